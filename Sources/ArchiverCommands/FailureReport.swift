// A failure on stderr: one line that says what and what to do, or JSON.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// How a failure is told.
struct FailureReport {
    private let failure: Failure

    init(_ failure: Failure) { self.failure = failure }

    /// "archiver: no such directory: /x — check the spelling", and a line for each candidate.
    var lines: [String] {
        let remedy = failure.remedy.map { " — " + Escaping.text($0) } ?? ""
        let candidates = failure.candidates.map { candidate in
            "  \(candidate.id.hex.prefix(12))  \(LocalTime.text(candidate.time))  \(FailureReport.origin(candidate))"
        }
        return ["archiver: " + Escaping.text(failure.message) + remedy] + candidates
    }

    /// The root, or the title of a state.
    private static func origin(_ candidate: Selected) -> String {
        switch candidate {
        case .snapshot(let record): Escaping.text(record.rootPath)
        case .state(let state): "state of " + Escaping.text(state.title)
        }
    }

    func write(_ console: Console) { write(console.error, isJSON: console.isJSON) }

    func write(_ output: Output, isJSON: Bool) {
        let json = isJSON ? try? JSONText.of(FailureJSON(failure)) : nil
        // Where stderr is closed the exit status has to say it all.
        for line in json.map({ [$0] }) ?? lines { try? output.line(line) }
        try? output.flush()
    }
}
