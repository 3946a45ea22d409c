// Snapshots as lines of text.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// Lists of snapshots for people and for programs.
enum SnapshotList {
    private static let columns = [
        TextTable.Column(title: "id", mark: .yellow), TextTable.Column(title: "time"),
        TextTable.Column(title: "changes", dispensability: 0),
        TextTable.Column(title: "size", alignment: .right, dispensability: 2),
        TextTable.Column(title: "stored", alignment: .right, dispensability: 3),
        TextTable.Column(title: "cause", dispensability: 1),
        TextTable.Column(title: "root", isElastic: true), TextTable.Column(title: "what", isElastic: true),
        TextTable.Column(title: "label", isElastic: true),
    ]

    /// An aligned table; roots are shown only if there are several.
    ///
    /// - Parameters:
    ///   - pinned: the pinned snapshots, which are marked in the label's column.
    ///   - notes: the notes, shown below their snapshots.
    ///   - outOfOrder: the snapshots whose times are marked.
    ///   - words: says what a snapshot changed; nil to leave out the column.
    static func table(
        _ records: [ListedSnapshot], _ gaps: ListedGaps, _ style: Style, pinned: Set<ChunkID> = [],
        notes: [SnapshotID: [Note]] = [:], outOfOrder: Set<SnapshotID> = [], words: SnapshotWords? = nil,
        isNewestFirst: Bool = false, width: Int? = nil
    ) -> [String] {
        let showsRoot = Set(records.map(\.rootPath)).count > 1
        var table = TextTable(
            columns.filter { (showsRoot || $0.title != "root") && (words != nil || $0.title != "what") })
        for snapshot in records {
            let root = showsRoot ? [Escaping.text(snapshot.rootPath)] : []
            let gaps = gaps.before(snapshot).map { gap in
                "          " + StatusText.gap(gap) + (showsRoot ? ": " + Escaping.text(gap.rootPath) : "")
            }
            if !isNewestFirst { gaps.forEach { table.add(note: $0) } }
            table.add(
                [
                    snapshot.id.short, LocalTime.text(snapshot.time), snapshot.changes.text,
                    ByteCount.text(snapshot.totals.bytes), ByteCount.text(snapshot.storedBytes),
                    snapshot.cause.rawValue,
                ] + root + (words.map { [$0.text(snapshot)] } ?? []) + [
                    label(
                        of: snapshot, isPinned: pinned.contains(snapshot.id.chunk),
                        isOutOfOrder: outOfOrder.contains(snapshot.id))
                ])
            notes[snapshot.id]?.forEach { table.add(note: NoteText.below($0)) }
            if isNewestFirst { gaps.forEach { table.add(note: $0) } }
        }
        return table.aligned(style, width: width)
    }

    private static func label(of snapshot: ListedSnapshot, isPinned: Bool, isOutOfOrder: Bool) -> String {
        [
            snapshot.label.map { Escaping.text($0) }, isPinned ? "(pinned)" : nil,
            isOutOfOrder ? "(out of order)" : nil,
        ].compactMap { $0 }.joined(separator: " ")
    }

    /// One line with tabs, distinct from the lines of snapshots: `# gap`, start, end, root, cause.
    static func plain(_ gap: GapRecord) -> String {
        TextTable.plain([
            "# gap", LocalTime.plain(gap.start), LocalTime.plain(gap.end), Escaping.text(gap.rootPath),
            gap.cause.rawValue,
        ])
    }

    /// One line with tabs: id, time, root, added, modified, removed, bytes, stored bytes, cause, label.
    static func plain(_ snapshot: ListedSnapshot) -> String {
        var line = LineBuffer()
        var writer = SnapshotLines()
        writer.append(snapshot, to: &line)
        return line.text
    }
}

/// Writes the lines of `SnapshotList.plain` quickly: caches the texts that consecutive snapshots share.
struct SnapshotLines {
    private var times = TimeWriter(isLocal: true)
    private var root: (path: [UInt8], shown: [UInt8]) = ([], [])

    mutating func append(_ snapshot: ListedSnapshot, to line: inout LineBuffer) {
        if snapshot.rootPath != root.path || root.shown.isEmpty {
            root = (snapshot.rootPath, Array(Escaping.text(snapshot.rootPath).utf8))
        }
        line.append(snapshot.id.chunk, count: SnapshotID.shortByteCount)
        line.append(byte: "\t")
        times.append(snapshot.time, to: &line)
        line.append(byte: "\t")
        line.append(root.shown)
        for number in [
            snapshot.changes.added, snapshot.changes.modified, snapshot.changes.removed, snapshot.totals.bytes,
            snapshot.storedBytes,
        ] {
            line.append(byte: "\t")
            line.append(number)
        }
        line.append(byte: "\t")
        line.append(snapshot.cause.rawValue)
        line.append(byte: "\t")
        if let label = snapshot.label { line.append(Escaping.text(label)) }
    }
}
