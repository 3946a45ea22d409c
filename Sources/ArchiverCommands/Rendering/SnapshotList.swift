// Snapshots as lines of text.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO

/// Lists of snapshots for people and for programs.
enum SnapshotList {
    private static let columns = [
        TextTable.Column(title: "id", mark: .yellow), TextTable.Column(title: "time"),
        TextTable.Column(title: "changes"), TextTable.Column(title: "size", alignment: .right),
        TextTable.Column(title: "stored", alignment: .right), TextTable.Column(title: "cause"),
        TextTable.Column(title: "root"), TextTable.Column(title: "label"),
    ]

    /// A table for a person, plain lines for a program, with a line for each gap between snapshots.
    static func lines(_ records: [SnapshotRecord], _ gaps: ListedGaps, _ console: Console) -> [String] {
        if console.isForPerson { return table(records, gaps, console.style) }
        let isNewestFirst = isNewestFirst(records)
        return records.flatMap { record in
            let lines = gaps.before(record).map(plain)
            return isNewestFirst ? [plain(record)] + lines : lines + [plain(record)]
        }
    }

    /// An aligned table; the root is shown only where there are several.
    static func table(_ records: [SnapshotRecord], _ gaps: ListedGaps, _ style: Style) -> [String] {
        let showsRoot = Set(records.map(\.rootPath)).count > 1
        let isNewestFirst = isNewestFirst(records)
        var table = TextTable(columns.filter { showsRoot || $0.title != "root" })
        for record in records {
            let root = showsRoot ? [Escaping.text(record.rootPath)] : []
            let notes = gaps.before(record).map { gap in
                "          " + StatusText.gap(gap) + (showsRoot ? ": " + Escaping.text(gap.rootPath) : "")
            }
            if !isNewestFirst { notes.forEach { table.add(note: $0) } }
            table.add(
                [
                    record.id.short, LocalTime.text(record.time), record.changes.text,
                    ByteCount.text(record.totals.bytes), ByteCount.text(record.storedBytes), record.cause.rawValue,
                ] + root + [Escaping.text(record.label ?? "")])
            if isNewestFirst { notes.forEach { table.add(note: $0) } }
        }
        return table.aligned(style)
    }

    private static func isNewestFirst(_ records: [SnapshotRecord]) -> Bool {
        guard let first = records.first, let last = records.last else { return false }
        return first.time > last.time
    }

    /// One line with tabs that no line of a snapshot looks like: `# gap`, start, end, root, cause.
    static func plain(_ gap: GapRecord) -> String {
        TextTable.plain([
            "# gap", gap.start.rfc3339, gap.end.rfc3339, Escaping.text(gap.rootPath), gap.cause.rawValue,
        ])
    }

    /// One line with tabs: id, time, root, added, modified, removed, bytes, stored bytes, cause, label.
    static func plain(_ record: SnapshotRecord) -> String {
        TextTable.plain([
            record.id.short, record.time.rfc3339, Escaping.text(record.rootPath), "\(record.changes.added)",
            "\(record.changes.modified)", "\(record.changes.removed)", "\(record.totals.bytes)",
            "\(record.storedBytes)", record.cause.rawValue, Escaping.text(record.label ?? ""),
        ])
    }
}
