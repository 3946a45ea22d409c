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
        var bytes = 0
        var clock: UInt64 = 0
    }

    private let capacityBytes: Int
    private let state = Mutex(State())

    init(capacityBytes: Int) {
        self.capacityBytes = capacityBytes
    }

    func block(at location: BlockLocation) -> DecodedBlock? {
        state.withLock { state in
            guard let found = state.blocks[location] else { return nil }
            state.clock += 1
            state.blocks[location]?.lastUse = state.clock
            return found.block
        }
    }

    func insert(_ block: DecodedBlock, at location: BlockLocation) {
        state.withLock { state in
            guard state.blocks[location] == nil else { return }
            state.clock += 1
            state.blocks[location] = (block, state.clock)
            state.bytes += block.raw.count
            if state.bytes > capacityBytes { evictHalf(&state) }
        }
    }

    /// Makes room for many at once: cheaper than keeping the order at every use.
    private func evictHalf(_ state: inout State) {
        for (location, entry) in state.blocks.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
            if state.bytes <= capacityBytes / 2 { return }
            state.blocks[location] = nil
            state.bytes -= entry.block.raw.count
        }
    }
}
