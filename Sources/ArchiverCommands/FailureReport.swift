// Writes a failure to stderr: one line with what failed and what to do, or JSON.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// The report of a failure.
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
    private static func origin(_ candidate: Selection) -> String {
        switch candidate {
        case .snapshot(let snapshot): Escaping.text(snapshot.rootPath)
        case .state(let state): "state of " + Escaping.text(state.title)
        }
    }

    func write(_ console: Console) { write(console.error, isJSON: console.isJSON) }

    func write(_ output: Output, isJSON: Bool) {
        let json = isJSON ? try? JSONText.of(FailureJSON(failure)) : nil
        // If stderr is closed, only the exit status reports the failure.
        for line in json.map({ [$0] }) ?? lines { try? output.line(line) }
        try? output.flush()
    }
}
