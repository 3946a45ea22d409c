// watchman (facebook.github.io/watchman): a service that watches directories, but stores no history.

internal import FoundationEssentials
internal import Glibc
internal import SystemPackage

/// A separate watchman, independent of one that may be running.
enum Watchman {
    static let name = "watchman"

    static var isInstalled: Bool { Command.isInstalled("watchman") }

    /// Starts it, has it watch `tree` and answer one query about it, and ends it.
    ///
    /// - Parameter place: a directory for its state and log, created here.
    /// - Returns: the time from the request to the answer, and the service's peak memory.
    static func arm(_ tree: FilePath, place: FilePath) throws -> Measurement {
        try Command("mkdir", "-m", "700", place.string).run()
        // Paths of sockets must be short; see unix(7).
        let socket = "/tmp/bench-\(getpid()).sock"
        let state = ["--sockname=\(socket)", "--statefile=\(place)/state", "--logfile=\(place)/log"]
        let service = try RunningProgram(
            Command(["watchman", "--foreground", "--pidfile=\(place)/pid"] + state), output: .discarded)
        defer { unlink(socket) }
        let client = ["watchman", "--no-spawn", "--no-pretty", "--sockname=\(socket)"]
        var attempts = 0
        // Unlike `version`, only the service can answer this.
        while (try? Command(client + ["watch-list"]).run()) == nil {
            attempts += 1
            if attempts > 1_000 { throw BenchmarkError("watchman does not answer: \(service.errorText)") }
            usleep(10_000)
        }
        let start = ContinuousClock.now
        try Command(client + ["watch", tree.string]).run()
        // This is answered when the whole tree is known.
        try Command(client + ["find", tree.string, "no-such-name"]).run()
        let seconds = (ContinuousClock.now - start).seconds
        let peak = service.peakBytes ?? 0
        _ = try? Command(client + ["shutdown-server"]).run()
        _ = try? service.finish()
        return Measurement(seconds: seconds, peakBytes: peak)
    }
}
