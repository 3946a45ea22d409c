// The place of a block. The header's checksum covers it, so a copy of a block in a file's content is not a block.

internal import Compression

/// The place of a block: its segment, and its offset there.
package struct BlockPlace: Hashable, Sendable {
    /// The first 4 bytes of the segment's id as a number; the segment's file name repeats them.
    package let segment: UInt32
    /// Bytes from the segment's start to the block.
    package let offset: Int

    package init(segment: UInt32, offset: Int) {
        self.segment = segment
        self.offset = offset
    }

    /// The CRC-32 of the place's bytes: the first 4 bytes of the segment's id, then the offset.
    var checksum: UInt32 {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(segment.byteSwapped)
        bytes.appendLittleEndian(UInt64(offset))
        return bytes.withUnsafeBytes { crc32($0) }
    }
}
