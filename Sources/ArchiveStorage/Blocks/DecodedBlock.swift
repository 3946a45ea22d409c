// A decompressed block of a segment.

internal import ArchiveFormat

/// A decompressed block.
final class DecodedBlock: Sendable {
    let header: BlockHeader
    /// The bytes of all chunks, joined.
    let raw: [UInt8]

    init(header: BlockHeader, raw: [UInt8]) {
        self.header = header
        self.raw = raw
    }

    /// The range of the chunk `id` in `raw`; nil if the block does not hold it.
    func range(of id: ChunkID) -> Range<Int>? {
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
