// Snapshots as lines of text.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// Lists of snapshots for people and for programs.
enum SnapshotList {
    private static let columns = [
        TextTable.Column(title: "id", mark: .yellow), TextTable.Column(title: "time"),
        TextTable.Column(title: "changes"), TextTable.Column(title: "size", alignment: .right, dispensability: 2),
        TextTable.Column(title: "stored", alignment: .right, dispensability: 3),
        TextTable.Column(title: "cause", dispensability: 1),
        TextTable.Column(title: "root", isElastic: true), TextTable.Column(title: "label", isElastic: true),
    ]

    /// An aligned table; the root is shown only where there are several.
    ///
    /// - Parameters:
    ///   - pinned: what is pinned, which the label's column says.
    ///   - notes: below the snapshots that they are about.
    static func table(
        _ records: [ListedSnapshot], _ gaps: ListedGaps, _ style: Style, pinned: Set<ChunkID> = [],
        notes: [SnapshotID: [Note]] = [:], width: Int? = nil
    ) -> [String] {
        let showsRoot = Set(records.map(\.rootPath)).count > 1
        let isNewestFirst = isNewestFirst(records)
        var table = TextTable(columns.filter { showsRoot || $0.title != "root" })
        for record in records {
            let root = showsRoot ? [Escaping.text(record.rootPath)] : []
            let gaps = gaps.before(record).map { gap in
                "          " + StatusText.gap(gap) + (showsRoot ? ": " + Escaping.text(gap.rootPath) : "")
            }
            if !isNewestFirst { gaps.forEach { table.add(note: $0) } }
            table.add(
                [
                    record.id.short, LocalTime.text(record.time), record.changes.text,
                    ByteCount.text(record.totals.bytes), ByteCount.text(record.storedBytes), record.cause.rawValue,
                ] + root + [label(of: record, isPinned: pinned.contains(record.id.chunk))])
            notes[record.id]?.forEach { table.add(note: NoteText.below($0)) }
            if isNewestFirst { gaps.forEach { table.add(note: $0) } }
        }
        return table.aligned(style, width: width)
    }

    private static func label(of record: ListedSnapshot, isPinned: Bool) -> String {
        [record.label.map { Escaping.text($0) }, isPinned ? "(pinned)" : nil].compactMap { $0 }.joined(separator: " ")
    }

    private static func isNewestFirst(_ records: [ListedSnapshot]) -> Bool {
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
    static func plain(_ record: ListedSnapshot) -> String {
        var line = LineBuffer()
        var writer = SnapshotLines()
        writer.append(record, to: &line)
        return line.text
    }
}

/// Writes snapshots as `SnapshotList.plain` has them, by the hundred thousand: knows what it wrote of the one before.
struct SnapshotLines {
    private var times = TimeWriter()
    private var root: (path: [UInt8], shown: [UInt8]) = ([], [])

    mutating func append(_ record: ListedSnapshot, to line: inout LineBuffer) {
        if record.rootPath != root.path || root.shown.isEmpty {
            root = (record.rootPath, Array(Escaping.text(record.rootPath).utf8))
        }
        line.append(record.id.chunk, count: SnapshotID.shortByteCount)
        line.append(byte: "\t")
        times.append(record.time, to: &line)
        line.append(byte: "\t")
        line.append(root.shown)
        for number in [
            record.changes.added, record.changes.modified, record.changes.removed, record.totals.bytes,
            record.storedBytes,
        ] {
            line.append(byte: "\t")
            line.append(number)
        }
        line.append(byte: "\t")
        line.append(record.cause.rawValue)
        line.append(byte: "\t")
        if let label = record.label { line.append(Escaping.text(label)) }
    }
}
