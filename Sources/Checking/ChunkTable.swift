// The readable chunks of an archive, with their lengths.

internal import ArchiveFormat

/// The chunks that were found at their places in the catalogue; each takes 40 bytes of memory.
///
/// Ids are stored in full: a damaged id may begin with the same bytes as the right one.
struct ChunkTable {
    private struct Row {
        let id: ChunkID
        /// The chunk's length in the lowest 25 bits, and the depth of its block above.
        let measures: UInt32

        var length: UInt64 { UInt64(measures & ((1 << ChunkTable.lengthBits) - 1)) }
        var depth: Int { Int(measures >> ChunkTable.lengthBits) }
    }

    private static let lengthBits: UInt32 = 25

    private var rows: [Row] = []
    /// Chunks that later turned out to be unreadable.
    private var unreadable: Set<ChunkID> = []

    /// Adds a chunk; call `sort` before any lookup.
    mutating func add(_ chunk: BlockHeader.Chunk, depth: Int) {
        let measures = UInt32(clamping: chunk.length) | UInt32(clamping: depth) << ChunkTable.lengthBits
        rows.append(Row(id: chunk.id, measures: measures))
    }

    mutating func sort() {
        rows.sort { $0.id < $1.id }
    }

    /// Removes a chunk that exists but cannot be read.
    mutating func remove(_ id: ChunkID) { unreadable.insert(id) }

    /// The length of the chunk `id`; nil if it cannot be read.
    func length(of id: ChunkID) -> UInt64? {
        guard let row = first(from: id), row.id == id, !unreadable.contains(id) else { return nil }
        return row.length
    }

    func contains(_ id: ChunkID) -> Bool { length(of: id) != nil }

    /// The depth of the chunk that `prefix` names; nil if it cannot be read.
    func depth(of prefix: ChunkPrefix) -> Int? {
        let padding = [UInt8](repeating: 0, count: ChunkID.byteCount - ChunkPrefix.byteCount)
        guard let id = ChunkID(prefix.bytes + padding), let row = first(from: id), prefix.begins(row.id),
            !unreadable.contains(row.id)
        else { return nil }
        return row.depth
    }

    /// The first row whose id is equal to or after `id`.
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
