// Lists of snapshots.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// A snapshot in a list, with what is said beside it.
struct SnapshotRow {
    let snapshot: ListedSnapshot
    /// The gaps between it and the previous snapshot.
    var gaps: [GapRecord] = []
    var notes: [Note] = []
    var isPinned = false
    /// Whether its time contradicts the order.
    var isOutOfOrder = false
    /// What it changed, in words.
    var what = ""
}

/// Lists of snapshots for people and for programs.
enum SnapshotList {
    /// - Parameters:
    ///   - showsRoot: whether a table has a column for the root.
    ///   - showsWhat: whether a table says what the snapshots changed.
    ///   - isNewestFirst: whether the list begins with the newest, so that gaps follow their snapshots.
    static func listing(
        showsRoot: Bool = false, showsWhat: Bool = false, isNewestFirst: Bool = false, emptiness: String = ""
    ) -> Listing<SnapshotRow> {
        // Consecutive snapshots mostly have the same root.
        var root: (path: [UInt8], shown: [UInt8]) = ([], [])
        var columns: [Listing<SnapshotRow>.Column] = [
            .text("id", mark: .yellow) { $0.snapshot.id.short }, .time("time") { $0.snapshot.time },
            .pipe(bytes: { row in
                if row.snapshot.rootPath != root.path || root.shown.isEmpty {
                    root = (row.snapshot.rootPath, Array(Escaping.text(row.snapshot.rootPath).utf8))
                }
                return root.shown
            }),
            .person("changes", dispensability: 0) { $0.snapshot.changes.text },
            .pipe(number: { $0.snapshot.changes.added }), .pipe(number: { $0.snapshot.changes.modified }),
            .pipe(number: { $0.snapshot.changes.removed }),
            .bytes("size", dispensability: 2) { $0.snapshot.totals.bytes },
            .bytes("stored", dispensability: 3) { $0.snapshot.storedBytes },
            .text("cause", dispensability: 1) { $0.snapshot.cause.rawValue },
        ]
        if showsRoot { columns.append(.person("root", isElastic: true) { Escaping.text($0.snapshot.rootPath) }) }
        if showsWhat { columns.append(.person("what", isElastic: true) { $0.what }) }
        columns.append(
            .text(
                "label", isElastic: true, person: label,
                pipe: { $0.snapshot.label.map { Escaping.text($0) } ?? "" }))
        var listing = Listing<SnapshotRow>(columns, emptiness: emptiness) { ListedSnapshotJSON($0) }
        func gaps(_ row: SnapshotRow) -> [Listing<SnapshotRow>.Line] {
            row.gaps.map { gap in
                let place = showsRoot ? ": " + Escaping.text(gap.rootPath) : ""
                return .init(person: "          " + StatusText.gap(gap) + place, pipe: plain(gap))
            }
        }
        listing.before = { isNewestFirst ? [] : gaps($0) }
        listing.after = { row in
            var lines: [Listing<SnapshotRow>.Line] = []
            if row.isOutOfOrder {
                let cells = ["# out of order", row.snapshot.id.short, LocalTime.plain(row.snapshot.time)]
                lines.append(.init(person: nil, pipe: TextTable.plain(cells)))
            }
            lines += row.notes.map { .init(person: NoteText.below($0), pipe: NoteText.plain($0)) }
            return isNewestFirst ? lines + gaps(row) : lines
        }
        var objects = SnapshotJSONRows()
        listing.fastJSON = { try objects.append($0, to: &$1) }
        return listing
    }

    private static func label(_ row: SnapshotRow) -> String {
        [
            row.snapshot.label.map { Escaping.text($0) }, row.isPinned ? "(pinned)" : nil,
            row.isOutOfOrder ? "(out of order)" : nil,
        ].compactMap(\.self).joined(separator: " ")
    }

    /// One line with tabs, distinct from the lines of snapshots: `# gap`, start, end, root, cause.
    static func plain(_ gap: GapRecord) -> String {
        TextTable.plain([
            "# gap", LocalTime.plain(gap.start), LocalTime.plain(gap.end), Escaping.text(gap.rootPath),
            gap.cause.rawValue,
        ])
    }

    /// One line with tabs: id, time, root, added, modified, removed, bytes, stored bytes, cause, label.
    static func plain(_ snapshot: ListedSnapshot) -> String { listing().plain(SnapshotRow(snapshot: snapshot)) }
}
