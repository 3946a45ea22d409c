// archiver as it watches a tree: events awaited, and an orderly end.

internal import FoundationEssentials
internal import Glibc
internal import SystemPackage

/// A running `archiver watch`.
final class WatchingArchiver {
    /// How long nothing must change before a capture, in seconds; the least that makes sense.
    static let settleSeconds = 0.02

    private let program: RunningProgram

    private struct Event: Decodable {
        let event: String
        let storedBytes: Int?
    }

    /// Starts to watch `tree`.
    convenience init(_ archiver: Archiver, _ tree: FilePath, store: FilePath) throws {
        try self.init(archiver, [tree], store: store)
    }

    /// Starts to watch `trees`.
    init(_ archiver: Archiver, _ trees: [FilePath], store: FilePath) throws {
        let settle = "\(Int(WatchingArchiver.settleSeconds * 1_000))ms"
        program = try RunningProgram(
            archiver.command(["watch"] + trees.map(\.string) + ["--json", "--settle", settle], store: store),
            output: .kept)
    }

    /// Time since the start, in seconds.
    var seconds: Double { program.seconds }

    /// Waits for the next event of the kind `name`.
    ///
    /// - Returns: how many bytes the event says were stored.
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

    /// Ends it in order.
    func end() throws -> Measurement {
        program.send(SIGTERM)
        return try program.finish().measurement
    }
}
