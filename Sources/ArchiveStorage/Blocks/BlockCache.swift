// A cache of decompressed blocks: neighbouring small files share blocks, so the next read often hits it.

internal import ArchiveFormat
internal import Threading

/// Decompressed blocks, up to a capacity.
final class BlockCache: Sendable {
    private struct State {
        var blocks: ClockCache<BlockLocation, DecodedBlock>
        /// Where chunks are: files that were stored together are read together, without asking the catalogue.
        var places: [ChunkID: Place] = [:]
        /// Blocks whose chunks are in `places`: only those read again, as of many blocks only one chunk is ever needed.
        var noted: Set<BlockLocation> = []

        mutating func forgetPlaces(in evicted: [(key: BlockLocation, value: DecodedBlock)]) {
            for (location, block) in evicted where noted.remove(location) != nil {
                for chunk in block.header.chunks where places[chunk.id]?.location == location {
                    places[chunk.id] = nil
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

    private let state: Locked<State>
    private let capacityBytes: Int

    init(capacityBytes: Int) {
        self.capacityBytes = capacityBytes
        state = Locked(State(blocks: ClockCache(capacity: capacityBytes)))
    }

    func removeAll() {
        state.withLock { $0 = State(blocks: ClockCache(capacity: capacityBytes)) }
    }

    func block(at location: BlockLocation) -> DecodedBlock? {
        state.withLock { state in
            guard let block = state.blocks.value(for: location) else { return nil }
            if state.noted.insert(location).inserted {
                block.forEachChunk { id, range in
                    state.places[id] = Place(
                        location: location, start: UInt32(range.lowerBound), length: UInt32(range.count))
                }
            }
            return block
        }
    }

    /// A cached block that holds the chunk `id`, and the chunk's range in its bytes.
    func block(holding id: ChunkID) -> (block: DecodedBlock, range: Range<Int>, location: BlockLocation)? {
        state.withLock { state in
            guard let place = state.places[id] else { return nil }
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
