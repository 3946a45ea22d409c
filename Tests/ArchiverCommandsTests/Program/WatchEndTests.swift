// The end of `archiver watch` by different signals, whatever it waits for.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct WatchEndTests {
    private func watching(_ work: Workplace, _ arguments: String...) throws -> ChildProcess {
        let process = try work.start(["watch", work.root.string, "--json", "--settle", "10ms"] + arguments)
        _ = try process.line { $0.contains("\"event\":\"watching\"") }
        return process
    }

    @Test("closing the terminal ends the watch after a last capture, as SIGTERM does")
    func hangup() throws {
        let work = try Workplace()
        let process = try watching(work, "--settle", "1m", "--max-delay", "1m")
        try work.write("last", "last\n")
        // A shell and the kernel can both send it.
        process.send(SIGHUP)
        process.send(SIGHUP)
        let outcome = try process.finish()
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(outcome.text.contains("\"event\":\"stopped\""))
        #expect(try work.run("cat", "latest:last").text == "last\n")
    }

    @Test("a watch started with SIGHUP ignored, as by nohup, continues")
    func nohup() throws {
        let work = try Workplace()
        let process = try ChildProcess(
            "sh",
            [
                "-c", "trap '' HUP; exec \"$0\" watch \"$1\" --json --settle 10ms", Workplace.program.string,
                work.root.string,
            ].map { Array($0.utf8) },
            environment: ["ARCHIVER_ARCHIVE": work.archive.string], directory: "/")
        _ = try process.line { $0.contains("\"event\":\"watching\"") }
        process.send(SIGHUP)
        try work.write("new", "new\n")
        _ = try process.line { $0.contains("\"event\":\"snapshot\"") }
        process.send(SIGTERM)
        #expect(try process.finish().status == 0)
    }

    @Test("a second signal immediately ends a watch that waits for another capture", arguments: [SIGTERM, SIGINT])
    func impatience(signal: CInt) throws {
        let work = try Workplace()
        let process = try watching(work)
        let lock = try work.blockCaptures()
        try work.write("new", "new\n")
        process.send(signal)
        // Two signals at the same moment count as one.
        while kill(process.id, 0) == 0, !hasEnded(process.id) { process.send(signal) }
        #expect(try process.finish().status == 128 + signal)
        withExtendedLifetime(lock) {}
    }

    @Test("one signal ends a watch that waits for another capture, and it reports what is missing")
    func lockedOut() throws {
        let work = try Workplace()
        let process = try watching(work, "--time-scale", "100")
        let lock = try work.blockCaptures()
        try work.write("new", "new\n")
        process.send(SIGTERM)
        let outcome = try process.finish()
        #expect(outcome.status == 11, "\(outcome.errorText)")
        #expect(outcome.errorText.contains("being captured"), "\(outcome.errorText)")
        withExtendedLifetime(lock) {}
    }

    @Test("a signal at any moment ends a watch that waits for its root")
    func waiting() throws {
        let work = try Workplace()
        for _ in 0..<10 {
            let process = try work.start("watch", work.path("nowhere").string, "--wait", "--json")
            _ = try process.line { $0.contains("\"event\":\"waiting\"") }
            process.send(SIGTERM)
            #expect(try process.finish().status == 0)
        }
    }

    /// Whether `process` has ended.
    private func hasEnded(_ process: pid_t) -> Bool {
        var request = pollfd()
        // A pause, so that the previous signal is received.
        _ = poll(&request, 0, 20)
        let state = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        return state?.contains(") Z ") ?? true
    }
}
