// A running `archiver watch`: waiting for its events, and an orderly end.

internal import FoundationEssentials
internal import Glibc
internal import SystemPackage

/// A running `archiver watch`.
final class WatchingArchiver {
    /// The settle time in seconds; the shortest that makes sense.
    static let settleSeconds = 0.02

    private let program: RunningProgram

    private struct Event: Decodable {
        let event: String
        let storedBytes: Int?
    }

    /// Starts watching `tree`.
    convenience init(
        _ archiver: Archiver, _ tree: FilePath, store: FilePath, environment: [String: String] = [:]
    ) throws {
        try self.init(archiver, [tree], store: store, environment: environment)
    }

    /// Starts watching `trees`.
    init(
        _ archiver: Archiver, _ trees: [FilePath], store: FilePath, environment: [String: String] = [:]
    ) throws {
        let settle = "\(Int(WatchingArchiver.settleSeconds * 1_000))ms"
        var command = archiver.command(
            ["watch"] + trees.map(\.string) + ["--json", "--settle", settle], store: store)
        command.environment.merge(environment) { $1 }
        program = try RunningProgram(command, output: .kept)
    }

    /// Time since the start, in seconds.
    var seconds: Double { program.seconds }

    /// Waits for the next event of the kind `name`.
    ///
    /// - Returns: the stored bytes that the event reports.
    @discardableResult
    func wait(for name: String) throws -> Int {
        while let line = program.nextLine() {
            let event = try JSONDecoder().decode(Event.self, from: Data(line.utf8))
            if event.event == name { return event.storedBytes ?? 0 }
            if event.event == "error" { throw BenchmarkError("archiver watch: \(line)") }
        }
        try Interruption.check()
        throw BenchmarkError("archiver watch ended: \(program.errorText)")
    }

    /// Ends it with SIGTERM.
    func end() throws -> Measurement {
        program.send(SIGTERM)
        return try program.finish().measurement
    }
}
