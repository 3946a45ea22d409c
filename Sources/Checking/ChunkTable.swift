// The chunks that an archive has: which ones can be read, and how long they are.

internal import ArchiveFormat

/// The chunks that were found where the catalogue says, 40 bytes of memory each.
///
/// Whole ids are kept: a damaged id may well begin like the one that it was.
struct ChunkTable {
    private struct Row {
        let id: ChunkID
        /// The chunk's length, and above its lowest 25 bits the depth of its block.
        let measures: UInt32

        var length: UInt64 { UInt64(measures & ((1 << ChunkTable.lengthBits) - 1)) }
        var depth: Int { Int(measures >> ChunkTable.lengthBits) }
    }

    private static let lengthBits: UInt32 = 25

    private var rows: [Row] = []
    /// Chunks that turned out to be unreadable after all.
    private var unreadable: Set<ChunkID> = []

    /// Adds a chunk; none is found before `sort` is called.
    mutating func add(_ chunk: BlockHeader.Chunk, depth: Int) {
        let measures = UInt32(clamping: chunk.length) | UInt32(clamping: depth) << ChunkTable.lengthBits
        rows.append(Row(id: chunk.id, measures: measures))
    }

    mutating func sort() {
        rows.sort { $0.id < $1.id }
    }

    /// Takes out a chunk that cannot be read although it is there.
    mutating func remove(_ id: ChunkID) { unreadable.insert(id) }

    /// The length of the chunk `id`; nil where it cannot be read.
    func length(of id: ChunkID) -> UInt64? {
        guard let row = first(from: id), row.id == id, !unreadable.contains(id) else { return nil }
        return row.length
    }

    func contains(_ id: ChunkID) -> Bool { length(of: id) != nil }

    /// How many blocks the chunk that `prefix` names stands on; nil where it cannot be read.
    func depth(of prefix: ChunkPrefix) -> Int? {
        let padding = [UInt8](repeating: 0, count: ChunkID.byteCount - ChunkPrefix.byteCount)
        guard let id = ChunkID(prefix.bytes + padding), let row = first(from: id), prefix.begins(row.id),
            !unreadable.contains(row.id)
        else { return nil }
        return row.depth
    }

    /// The first row whose id is not before `id`.
    private func first(from id: ChunkID) -> Row? {
        var low = 0
        var high = rows.count
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < rows.count ? rows[low] : nil
    }
}
