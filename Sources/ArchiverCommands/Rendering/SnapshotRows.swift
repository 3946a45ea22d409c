// Writes lists of snapshots for programs, row by row.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit

/// Writes a list of snapshots to standard output: lines with tabs, or one JSON array.
struct SnapshotRows: ~Copyable {
    private let output: Output
    private let isJSON: Bool
    private let isNewestFirst: Bool
    private let pinned: Set<ChunkID>
    private let notes: [SnapshotID: [Note]]
    private let outOfOrder: Set<SnapshotID>
    private var lines = SnapshotLines()
    private var objects = SnapshotJSONRows()
    private var buffer = LineBuffer()
    /// The number of bytes at which the buffer is written; small at first, so that the first rows appear early.
    private var threshold = 4 << 10
    private(set) var isEmpty = true

    init(
        _ console: Console, pinned: Set<ChunkID>, notes: [SnapshotID: [Note]], outOfOrder: Set<SnapshotID>,
        isNewestFirst: Bool
    ) {
        self.pinned = pinned
        self.notes = notes
        self.outOfOrder = outOfOrder
        output = console.output
        isJSON = console.isJSON
        self.isNewestFirst = isNewestFirst
    }

    /// Appends a snapshot with its notes and the gaps before it.
    mutating func append(_ snapshot: ListedSnapshot, _ gaps: [GapRecord]) throws {
        let notes = notes.isEmpty ? [] : notes[snapshot.id] ?? []
        let isOutOfOrder = !outOfOrder.isEmpty && outOfOrder.contains(snapshot.id)
        if isJSON {
            buffer.append(isEmpty ? "[\n" : ",\n")
            try objects.append(
                snapshot, gaps, notes, isPinned: pinned.contains(snapshot.id.chunk), isOutOfOrder: isOutOfOrder,
                to: &buffer)
        } else {
            if !isNewestFirst { append(gaps) }
            lines.append(snapshot, to: &buffer)
            buffer.append(byte: "\n")
            if isOutOfOrder {
                buffer.append(TextTable.plain(["# out of order", snapshot.id.short, LocalTime.plain(snapshot.time)]))
                buffer.append(byte: "\n")
            }
            for note in notes {
                buffer.append(NoteText.plain(note))
                buffer.append(byte: "\n")
            }
            if isNewestFirst { append(gaps) }
        }
        isEmpty = false
        if buffer.count >= threshold {
            try write()
            try output.flush()
            threshold = 64 << 10
        }
    }

    private mutating func append(_ gaps: [GapRecord]) {
        for gap in gaps {
            buffer.append(SnapshotList.plain(gap))
            buffer.append(byte: "\n")
        }
    }

    /// Writes the rest.
    mutating func finish() throws {
        if isJSON { buffer.append(isEmpty ? "[]\n" : "\n]\n") }
        try write()
    }

    private mutating func write() throws {
        try buffer.withBytes { try output.write($0) }
        buffer.removeAll()
    }
}
