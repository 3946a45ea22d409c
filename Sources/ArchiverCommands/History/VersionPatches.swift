// The changes of each version of a file, as a patch or as line counts.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import TextDiff
internal import Threading

/// Compares each version with the one before it.
struct VersionPatches {
    private let history: HistoryContext

    init(_ history: HistoryContext) { self.history = history }

    /// Writes a heading and the patch of each version.
    ///
    /// - Parameter ranges: the lines of each version to limit its patch to; nil for all.
    func write(_ versions: [PathVersion], _ ranges: [LineRange]? = nil) throws {
        let (console, archive, root) = (history.console, history.archive, history.root)
        let report = TextReport(console, left: .archive(archive), right: .archive(archive))
        let texts = report.texts
        try versions.indices.forEachAhead(byteCount: { versions[$0].size }, waits: archive.store.isRemote) { index in
            let version = versions[index]
            guard let difference = try archive.difference(of: version, in: root),
                difference.kind != .modified
                    || difference.aspects.contains("content") || version.change == .modified
            else { return (version, nil) }
            return (version, (difference, try texts.shown(difference, touching: ranges?[index])))
        } _: { (version: PathVersion, shown: (Difference, TextComparison.Shown)?) in
            let snapshot = version.snapshot
            let label = snapshot.label.map { "  " + Escaping.text($0) } ?? ""
            let head = "\(snapshot.id.short)  \(LocalTime.text(snapshot.time))  \(VersionList.words(version))\(label)"
            try console.output.line(console.style(.yellow, head))
            if let (difference, shown) = shown { try report.write(difference, shown) }
            try console.output.line("")
            return true
        }
    }

    /// Writes a heading and what a version of a directory changed, as patches or as line counts.
    func write(_ version: DirectoryVersion, isStat: Bool) throws {
        let (console, archive, snapshot) = (history.console, history.archive, version.snapshot)
        let label = snapshot.label.map { "  " + Escaping.text($0) } ?? ""
        let what = version.isFirst ? "first snapshot" : version.counts.text
        try console.output.line(
            console.style(.yellow, "\(snapshot.id.short)  \(LocalTime.text(snapshot.time))  \(what)\(label)"))
        var report: any DifferenceReport =
            isStat
            ? StatisticsReport(console, archive, right: .archive(archive))
            : TextReport(console, left: .archive(archive), right: .archive(archive))
        try compare(version, &report)
        try console.output.line("")
    }

    /// Passes what a version of a directory changed to a report; nothing for the first snapshot.
    ///
    /// - Returns: whether there is a snapshot before it.
    @discardableResult
    private func compare(_ version: DirectoryVersion, _ report: inout any DifferenceReport) throws -> Bool {
        let (archive, snapshot) = (history.archive, version.snapshot)
        guard let before = try archive.neighbours(of: snapshot, isLater: false, limit: 1).first else { return false }
        var renames = Renames(archive, left: before, right: snapshot)
        try visiting({ try archive.differences(from: before, to: snapshot, at: version.path, $0) }) {
            if !$0.isDirectoryTimeOnly { try renames.add($0, to: &report) }
        }
        try renames.finish(&report)
        try report.finish()
        return true
    }

    /// The numbers of lines that a version of a directory added and removed; nil for the first snapshot.
    func lineCounts(of version: DirectoryVersion) throws -> LineCounts {
        let lines = LineTotals(.archive(history.archive))
        var report: any DifferenceReport = lines
        return try compare(version, &report) ? (lines.added, lines.removed) : nil
    }

    /// The numbers of lines that a version added and removed; nil if either side is not text, or too large.
    func lineCounts(of version: PathVersion) throws -> LineCounts {
        guard let difference = try history.archive.difference(of: version, in: history.root) else { return nil }
        let sides = [difference.left, difference.right]
        guard sides.allSatisfy({ $0.map { $0.kind == .file } ?? true }) else { return nil }
        let contents = FileContents.archive(history.archive)
        return try FileContents.lineCounts(of: difference, contents, contents)
    }
}

/// Counts the lines of all text files together.
private final class LineTotals: DifferenceReport {
    private let contents: FileContents
    private(set) var added = 0
    private(set) var removed = 0

    init(_ contents: FileContents) { self.contents = contents }

    func add(_ difference: Difference) throws {
        guard FileContents.isComparable(difference),
            let counts = try FileContents.lineCounts(of: difference, contents, contents)
        else { return }
        added += counts.added
        removed += counts.removed
    }

    func finish() {}
}
