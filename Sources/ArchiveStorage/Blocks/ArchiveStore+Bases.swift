// Chooses the stored chunk that a new one is compressed against.

package import ArchiveFormat

extension ArchiveStore {
    /// The chunk `id` as a base for a new chunk, or one below it if its chain is too deep.
    ///
    /// Most versions of a file depend on the previous version, so that little is stored. When a chain has reached the
    /// limit, the next version depends on an older one and begins a branch there. Mostly the branch begins close to the
    /// end, where the two versions are very similar; sometimes it begins far back, so that the starting points of
    /// branches do not age. The chunk's own id decides.
    ///
    /// - Returns: nil if it is missing, damaged, lost or not on the local disk: a chunk can be stored without a base.
    package func base(_ id: ChunkID) throws(StorageError) -> BaseChunk? {
        var limit = BlockHeader.depthLimit - 1
        var prefix = ChunkPrefix(id)
        // Copies of one chunk may have different depths, so this walk is limited too.
        for _ in 0...BlockHeader.depthLimit {
            guard let (id, location) = try catalogue.base(beginning: prefix) else { return nil }
            do {
                let block = try reader.block(at: location)
                if block.header.depth <= limit {
                    let bytes = Array(try reader.chunk(id, at: location))
                    return BaseChunk(id: id, bytes: bytes, depth: block.header.depth, cost: block.cost)
                }
                if limit == BlockHeader.depthLimit - 1 { limit = ArchiveStore.branchingDepth(after: id) }
                guard let below = block.header.base(of: id) else { return nil }
                prefix = below
            } catch {
                guard error.isAboutBytes || error.code == .away else { throw error }
                return nil
            }
        }
        return nil
    }

    /// The greatest depth of a chunk at which a branch may begin when a chain ends with `id`.
    ///
    /// It is three quarters of the limit in half of all cases, half of it in a quarter, and so on.
    private static func branchingDepth(after id: ChunkID) -> Int {
        let quarters = 3 - min(id.prefix.trailingZeroBitCount, 3)
        return BlockHeader.depthLimit / 4 * quarters
    }
}

extension BlockHeader {
    /// The base that the chunk `id` of this block resembles most.
    func base(of id: ChunkID) -> ChunkPrefix? {
        // With one base per chunk, each base belongs to the chunk at its index; otherwise the last is the most similar.
        guard chunks.count == bases.count, let index = chunks.firstIndex(where: { $0.id == id }) else {
            return bases.last
        }
        return bases[index]
    }
}
