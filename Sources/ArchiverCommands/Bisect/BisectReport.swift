// The result of a bisection, as text and as JSON.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// The first bad snapshot, or the suspects.
struct BisectReport {
    let result: BisectResult

    /// The maximum number of changed paths shown.
    private static let shownPaths = 20

    func write(_ history: HistoryContext) throws {
        let console = history.console
        if console.isJSON { return try console.output.line(JSONText.of(BisectJSON(result: result))) }
        guard console.isForPerson else {
            return try Listing<ListedSnapshot>(
                [.pipe { $0.id.short }, .time("time") { $0.time }, .pipe { _ in result.lastGood.id.short }],
                emptiness: ""
            ) { SnapshotJSON($0) }
            .write(result.suspects, console)
        }
        guard let firstBad = result.firstBad else {
            try console.output.line("One of these is the first bad snapshot; the others could not be tested:")
            for suspect in result.suspects { try console.output.line("  \(suspect.name)") }
            return
        }
        try console.output.line(
            console.style(.yellow, firstBad.id.short)
                + " (\(LocalTime.text(firstBad.time))) is the first bad snapshot, after \(result.lastGood.name):")
        var count = 0
        try history.archive.differences(from: result.lastGood, to: firstBad) { difference in
            if difference.isDirectoryTimeOnly { return true }
            count += 1
            guard count <= BisectReport.shownPaths else { return true }
            let sign = difference.kind.sign
            // A closed pipe is reported again by the next line.
            try? console.output.line(console.style(sign.mark, "  \(sign.rawValue) \(Escaping.text(difference.path))"))
            return true
        }
        if count > BisectReport.shownPaths { try console.output.line("  and \(count - BisectReport.shownPaths) more") }
        try console.output.line(
            "'archiver diff \(result.lastGood.id.short) \(firstBad.id.short)' shows what changed, "
                + "'archiver restore \(result.lastGood.id.short)' goes back")
    }
}
