// How an archive's bytes are shared among chunks: each has a share of its block.

package import ArchiveFormat

/// A use of a chunk.
package struct ChunkUse: Sendable {
    /// The bytes of the chunk, unpacked.
    package var length: UInt64
    /// The number of the owner that uses it.
    package var owner: Int

    package init(length: UInt64, owner: Int) {
        self.length = length
        self.owner = owner
    }
}

/// The bytes of an archive's blocks, by owner.
package struct ChunkShares: Sendable {
    /// Bytes by owner number.
    package private(set) var bytes: [UInt64]
    /// Bytes of used chunks that are not in `kept`.
    package private(set) var goingBytes: UInt64 = 0

    /// - Parameters:
    ///   - uses: the chunks that are used, with their owners.
    ///   - owners: the number of owners.
    ///   - kept: the chunks that stay.
    package init(
        _ store: ArchiveStore, of uses: [ChunkID: ChunkUse], owners: Int, kept: ChunkSet
    ) throws(StorageError) {
        var lengths: [Int64: UInt64] = [:]
        try store.catalogue.forEachBlock { location, block in lengths[location.packed] = UInt64(block.length) }
        // Block rows have no lengths of chunks, so the used chunks of a block share all of its bytes.
        var used: [Int64: UInt64] = [:]
        try ChunkShares.forEachUse(store, uses) { _, use, location in
            used[location.packed, default: 0] += max(1, use.length)
        }
        var (sums, going) = ([Double](repeating: 0, count: owners), 0.0)
        try ChunkShares.forEachUse(store, uses) { id, use, location in
            guard let whole = used[location.packed], let length = lengths[location.packed] else { return }
            let share = Double(length) * Double(max(1, use.length)) / Double(whole)
            if sums.indices.contains(use.owner) { sums[use.owner] += share }
            if !kept.contains(id) { going += share }
        }
        bytes = sums.map { UInt64($0.rounded()) }
        goingBytes = UInt64(going.rounded())
    }

    /// Calls `body` with each used chunk and the location of its newest copy.
    private static func forEachUse(
        _ store: ArchiveStore, _ uses: [ChunkID: ChunkUse], _ body: (ChunkID, ChunkUse, BlockLocation) -> Void
    ) throws(StorageError) {
        var last: ChunkID?
        try store.catalogue.forEachChunk { id, location in
            defer { last = id }
            if id != last, let use = uses[id] { body(id, use, location) }
            return true
        }
    }
}
