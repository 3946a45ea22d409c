// How an archive's bytes are shared among chunks: each has a share of its block.

internal import ArchiveFormat

/// A use of a chunk.
package struct ChunkUse: Sendable {
    /// The bytes of the chunk, unpacked.
    package var length: UInt64
    /// The number of the owner that uses it.
    package var owner: Int
    /// Whether it stays if old snapshots are thinned.
    package var isKept: Bool

    package init(length: UInt64, owner: Int, isKept: Bool) {
        self.length = length
        self.owner = owner
        self.isKept = isKept
    }
}

/// The bytes of an archive's blocks, by owner.
package struct ChunkShares: Sendable {
    /// Bytes by owner number.
    package private(set) var bytes: [UInt64]
    /// Bytes of used chunks that are not kept.
    package private(set) var goingBytes: UInt64 = 0

    /// - Parameters:
    ///   - uses: the chunks that are used, with their owners, by the first 64 bits of their ids.
    ///   - owners: the number of owners.
    package init(_ store: ArchiveStore, of uses: [UInt64: ChunkUse], owners: Int) throws(StorageError) {
        // Block rows have no lengths of chunks, so the used chunks of a block share all of its bytes.
        var used: [(location: Int64, use: ChunkUse)] = []
        used.reserveCapacity(uses.count)
        var last: ChunkID?
        try store.catalogue.forEachChunk { id, location in
            // The newest copy comes first, and it is the one that is read.
            if id != last, let use = uses[id.prefix] { used.append((location.packed, use)) }
            last = id
            return true
        }
        used.sort { $0.location < $1.location }
        var (sums, going) = ([Double](repeating: 0, count: owners), 0.0)
        var start = 0
        try store.catalogue.forEachBlockLength { location, length in
            while start < used.count, used[start].location < location { start += 1 }
            var (end, whole) = (start, UInt64(0))
            while end < used.count, used[end].location == location {
                whole += max(1, used[end].use.length)
                end += 1
            }
            for (_, use) in used[start..<end] {
                let share = Double(length) * Double(max(1, use.length)) / Double(whole)
                if sums.indices.contains(use.owner) { sums[use.owner] += share }
                if !use.isKept { going += share }
            }
            start = end
        }
        bytes = sums.map { UInt64($0.rounded()) }
        goingBytes = UInt64(going.rounded())
    }
}
