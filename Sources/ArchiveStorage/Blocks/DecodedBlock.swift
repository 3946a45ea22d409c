// A block of a segment, unpacked.

internal import ArchiveFormat

/// A block's chunks, decompressed.
final class DecodedBlock: Sendable {
    let header: BlockHeader
    /// All chunks' bytes, joined.
    let raw: [UInt8]

    init(header: BlockHeader, raw: [UInt8]) {
        self.header = header
        self.raw = raw
    }

    /// Where in `raw` the chunk `id` is; nil where the block does not hold it.
    func range(of id: ChunkID) -> Range<Int>? {
        var start = 0
        for chunk in header.chunks {
            if chunk.id == id { return start..<(start + chunk.length) }
            start += chunk.length
        }
        return nil
    }

    /// Calls `body` with each chunk and where in `raw` it is.
    func forEachChunk(_ body: (ChunkID, Range<Int>) -> Void) {
        var start = 0
        for chunk in header.chunks {
            body(chunk.id, start..<(start + chunk.length))
            start += chunk.length
        }
    }
}
