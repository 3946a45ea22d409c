// Which stored chunk a new one is compressed against.

package import ArchiveFormat

extension ArchiveStore {
    /// The chunk `id`, or where that stands on too many bases a chunk below it, as a base for compressing a new one.
    ///
    /// Most versions of a file stand on the one before, so that little is stored. Where a chain is as long as it may be,
    /// the next version goes back to an older one and begins a branch there: most often not far, so that the two are
    /// much alike; sometimes far, so that what branches are begun at does not grow old. The chunk's own id decides.
    ///
    /// - Returns: nil where it is missing, damaged or known to be lost: all can do without a base.
    package func base(_ id: ChunkID) throws(StorageError) -> BaseChunk? {
        var limit = BlockHeader.depthLimit - 1
        var prefix = ChunkPrefix(id)
        // Copies of one chunk may stand on chains of other lengths, so even this walk has an end.
        for _ in 0...BlockHeader.depthLimit {
            guard let (id, location) = try catalogue.base(beginning: prefix) else { return nil }
            do {
                let block = try reader.block(at: location)
                if block.header.depth <= limit {
                    return BaseChunk(id: id, bytes: try reader.chunk(id, at: location), depth: block.header.depth)
                }
                if limit == BlockHeader.depthLimit - 1 { limit = ArchiveStore.branchingDepth(after: id) }
                guard let below = block.header.base(of: id) else { return nil }
                prefix = below
            } catch {
                guard error.code == .damaged || error.code == .newerFormat else { throw error }
                return nil
            }
        }
        return nil
    }

    /// How deep the chunk may be at which a branch begins when a chain ends with `id`: three quarters of the limit in
    /// half of all cases, half of it in a quarter, and so on.
    private static func branchingDepth(after id: ChunkID) -> Int {
        let quarters = 3 - min(id.prefix.trailingZeroBitCount, 3)
        return BlockHeader.depthLimit / 4 * quarters
    }
}

extension BlockHeader {
    /// The base that the chunk `id` of this block most resembles.
    func base(of id: ChunkID) -> ChunkPrefix? {
        // Nodes stand each on its own predecessor; what has several bases has the most alike last.
        guard chunks.count == bases.count, let index = chunks.firstIndex(where: { $0.id == id }) else {
            return bases.last
        }
        return bases[index]
    }
}
