// A decompressed block of a segment.

internal import ArchiveFormat

/// A decompressed block.
final class DecodedBlock: Sendable {
    let header: BlockHeader
    /// The bytes of all chunks, joined.
    let raw: [UInt8]
    /// What it took to unpack it.
    let cost: UnpackingCost
    /// The ranges of the chunks, if there are many: records are read one by one from a block of thousands.
    private let ranges: [ChunkID: Range<Int>]

    private static let manyChunks = 64

    init(header: BlockHeader, raw: [UInt8], bases: [UnpackingCost]) {
        self.header = header
        self.raw = raw
        cost = UnpackingCost(rawLength: raw.count, bases: bases)
        var ranges: [ChunkID: Range<Int>] = [:]
        if header.chunks.count > DecodedBlock.manyChunks {
            ranges.reserveCapacity(header.chunks.count)
            var start = 0
            for chunk in header.chunks {
                if ranges[chunk.id] == nil { ranges[chunk.id] = start..<(start + chunk.length) }
                start += chunk.length
            }
        }
        self.ranges = ranges
    }

    /// The approximate size in memory, in bytes: a small block is little else than its header.
    var memory: Int { raw.count + 512 + header.chunks.count * (ranges.isEmpty ? 128 : 256) }

    /// The range of the chunk `id` in `raw`; nil if the block does not hold it.
    func range(of id: ChunkID) -> Range<Int>? {
        if !ranges.isEmpty { return ranges[id] }
        var start = 0
        for chunk in header.chunks {
            if chunk.id == id { return start..<(start + chunk.length) }
            start += chunk.length
        }
        return nil
    }

    /// Calls `body` with each chunk and its range in `raw`.
    func forEachChunk(_ body: (ChunkID, Range<Int>) -> Void) {
        var start = 0
        for chunk in header.chunks {
            body(chunk.id, start..<(start + chunk.length))
            start += chunk.length
        }
    }
}
