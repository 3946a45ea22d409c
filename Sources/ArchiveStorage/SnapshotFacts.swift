// Fields of a snapshot that the catalogue returns but never queries by, in one column.

internal import ArchiveFormat

/// Facts about a snapshot in one column.
///
/// Layout: the numbers as LEB128 (DWARF 5, 7.6), the tree's id, flags, the parent's id if there is one, and the cause's
/// letters.
struct SnapshotFacts {
    var changes: ChangeCounts
    var totals: Totals
    var problems: Int
    var tree: ChunkID
    var parent: SnapshotID?
    var isAside: Bool
    var cause: Cause

    init(_ listed: ListedSnapshot) {
        changes = listed.changes
        totals = listed.totals
        problems = listed.problems
        tree = listed.tree
        parent = listed.parent
        isAside = listed.isAside
        cause = listed.cause
    }

    /// Decodes what `encoded` returned.
    ///
    /// - Parameter causes: caches the last cause, as neighbouring rows mostly have the same.
    /// - Returns: nil for any other bytes.
    init?(_ bytes: UnsafeRawBufferPointer, _ causes: inout Repeated<Cause?>) {
        var reader = Reader(bytes: bytes)
        guard let added = reader.number(), let modified = reader.number(), let removed = reader.number(),
            let size = reader.number(), let files = reader.number(), let directories = reader.number(),
            let others = reader.number(), let problems = reader.number().flatMap({ Int(exactly: $0) }),
            let tree = reader.id(), let flags = reader.number(), flags <= 3
        else { return nil }
        changes = ChangeCounts(added: added, modified: modified, removed: removed)
        totals = Totals(files: files, directories: directories, others: others, bytes: size)
        self.problems = problems
        self.tree = tree
        isAside = flags & 2 != 0
        if flags & 1 != 0 {
            guard let id = reader.id() else { return nil }
            parent = SnapshotID(id)
        }
        let rest = reader.rest
        guard let cause = causes.value(of: rest, { Cause(rawValue: String(decoding: rest, as: UTF8.self)) }) else {
            return nil
        }
        self.cause = cause
    }

    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        for number in [
            changes.added, changes.modified, changes.removed, totals.bytes, totals.files, totals.directories,
            totals.others, UInt64(problems),
        ] {
            SnapshotFacts.append(number, to: &bytes)
        }
        bytes += tree.bytes
        bytes.append((parent == nil ? 0 : 1) | (isAside ? 2 : 0))
        if let parent { bytes += parent.chunk.bytes }
        bytes += cause.rawValue.utf8
        return bytes
    }

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    private struct Reader {
        let bytes: UnsafeRawBufferPointer
        private var position = 0

        init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

        var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[position...]) }

        mutating func number() -> UInt64? {
            var value: UInt64 = 0
            var shift: UInt64 = 0
            while position < bytes.count, shift < 64 {
                let byte = bytes[position]
                position += 1
                value |= UInt64(byte & 0x7f) << shift
                if byte < 0x80 { return value }
                shift += 7
            }
            return nil
        }

        mutating func id() -> ChunkID? {
            guard bytes.count - position >= ChunkID.byteCount else { return nil }
            defer { position += ChunkID.byteCount }
            return ChunkID(exactly: UnsafeRawBufferPointer(rebasing: bytes[position..<(position + ChunkID.byteCount)]))
        }
    }
}
