// Recently read blocks, decompressed: neighbouring small files share blocks, so the next read is often here.

internal import ArchiveFormat
internal import Synchronization

/// A block's chunks, decompressed.
final class DecodedBlock: Sendable {
    let header: BlockHeader
    /// All chunks' bytes, joined.
    let raw: [UInt8]
    private let places: [ChunkID: Range<Int>]

    init(header: BlockHeader, raw: [UInt8]) {
        self.header = header
        self.raw = raw
        var places: [ChunkID: Range<Int>] = [:]
        places.reserveCapacity(header.chunks.count)
        var start = 0
        for chunk in header.chunks {
            places[chunk.id] = start..<(start + chunk.length)
            start += chunk.length
        }
        self.places = places
    }

    /// Where in `raw` the chunk `id` is; nil where the block does not hold it.
    func range(of id: ChunkID) -> Range<Int>? { places[id] }
}

/// Decompressed blocks, as many as fit; those unused the longest go first.
final class BlockCache: Sendable {
    private struct State {
        var blocks: [BlockLocation: (block: DecodedBlock, lastUse: UInt64)] = [:]
        /// The block that holds a chunk: files that were stored together are read together, and need no catalogue.
        var holders: [ChunkID: BlockLocation] = [:]
        var bytes = 0
        var clock: UInt64 = 0
    }

    private let capacityBytes: Int
    private let state = Mutex(State())

    init(capacityBytes: Int) {
        self.capacityBytes = capacityBytes
    }

    func block(at location: BlockLocation) -> DecodedBlock? {
        state.withLock { state in BlockCache.use(location, &state) }
    }

    /// A block that holds the chunk `id`.
    func block(holding id: ChunkID) -> (block: DecodedBlock, location: BlockLocation)? {
        state.withLock { state in
            guard let location = state.holders[id] else { return nil }
            return BlockCache.use(location, &state).map { ($0, location) }
        }
    }

    private static func use(_ location: BlockLocation, _ state: inout State) -> DecodedBlock? {
        guard let index = state.blocks.index(forKey: location) else { return nil }
        state.clock += 1
        state.blocks.values[index].lastUse = state.clock
        return state.blocks.values[index].block
    }

    func insert(_ block: DecodedBlock, at location: BlockLocation) {
        state.withLock { state in
            guard state.blocks[location] == nil else { return }
            state.clock += 1
            state.blocks[location] = (block, state.clock)
            for chunk in block.header.chunks { state.holders[chunk.id] = location }
            state.bytes += block.raw.count
            if state.bytes > capacityBytes { evictHalf(&state) }
        }
    }

    /// Makes room for many at once: cheaper than keeping the order at every use.
    private func evictHalf(_ state: inout State) {
        for (location, entry) in state.blocks.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
            if state.bytes <= capacityBytes / 2 { return }
            state.blocks[location] = nil
            for chunk in entry.block.header.chunks where state.holders[chunk.id] == location {
                state.holders[chunk.id] = nil
            }
            state.bytes -= entry.block.raw.count
        }
    }
}
