// A cache of decompressed blocks: neighbouring small files share blocks, so the next read often hits it.

internal import ArchiveFormat
internal import Threading

/// Decompressed blocks, up to a capacity.
final class BlockCache: Sendable {
    private struct State {
        var blocks: ClockCache<BlockLocation, DecodedBlock>
        /// Where chunks are: files that were stored together are read together, without asking the catalogue.
        var places: [ChunkPrefix: Place] = [:]
        /// Blocks whose chunks are in `places`: those of few chunks, which are the bases of later ones, and those read
        /// again, as of most blocks only one chunk is ever needed.
        var noted: Set<BlockLocation> = []

        mutating func note(_ block: DecodedBlock, at location: BlockLocation) {
            guard noted.insert(location).inserted else { return }
            block.forEachChunk { id, range in
                places[ChunkPrefix(id)] = Place(
                    location: location, start: UInt32(range.lowerBound), length: UInt32(range.count))
            }
        }

        mutating func forgetPlaces(in evicted: [(key: BlockLocation, value: DecodedBlock)]) {
            for (location, block) in evicted where noted.remove(location) != nil {
                for chunk in block.header.chunks {
                    let prefix = ChunkPrefix(chunk.id)
                    if places[prefix]?.location == location { places[prefix] = nil }
                }
            }
        }
    }

    /// A chunk in a block.
    private struct Place {
        let location: BlockLocation
        let start: UInt32
        let length: UInt32

        var range: Range<Int> { Int(start)..<(Int(start) + Int(length)) }
    }

    /// The most chunks of a block that are noted at once.
    private static let fewChunks = 4

    private let state: Locked<State>

    init(capacityBytes: Int) { state = Locked(State(blocks: ClockCache(capacity: capacityBytes))) }

    func limit(toBytes capacity: Int) { state.withLock { $0.blocks.capacity = capacity } }

    func removeAll() {
        state.withLock { $0 = State(blocks: ClockCache(capacity: $0.blocks.capacity)) }
    }

    func block(at location: BlockLocation) -> DecodedBlock? {
        state.withLock { state in
            guard let block = state.blocks.value(for: location) else { return nil }
            state.note(block, at: location)
            return block
        }
    }

    /// A cached block that holds a chunk whose id begins with `prefix`, and the chunk's range in its bytes.
    func block(
        holding prefix: ChunkPrefix
    ) -> (block: DecodedBlock, range: Range<Int>, location: BlockLocation)? {
        state.withLock { state in
            guard let place = state.places[prefix] else { return nil }
            return state.blocks.value(for: place.location).map { ($0, place.range, place.location) }
        }
    }

    /// Stores `block` in place of a cached one that turned out to be wrong.
    func replace(_ block: DecodedBlock, at location: BlockLocation) {
        state.withLock { $0.blocks.remove(location) }
        insert(block, at: location)
    }

    func insert(_ block: DecodedBlock, at location: BlockLocation) {
        let evicted = state.withLock { state in
            if state.blocks.contains(location) { return [(key: BlockLocation, value: DecodedBlock)]() }
            let evicted = state.blocks.insert(block, for: location, cost: block.memory)
            state.forgetPlaces(in: evicted)
            if block.header.chunks.count <= BlockCache.fewChunks { state.note(block, at: location) }
            return evicted
        }
        // Freed here, outside the lock.
        _ = consume evicted
    }

    /// Releases the blocks that were not used since the last call.
    func removeUnused() {
        let evicted = state.withLock { state in
            let evicted = state.blocks.evictUnused()
            state.forgetPlaces(in: evicted)
            return evicted
        }
        _ = consume evicted
    }
}
