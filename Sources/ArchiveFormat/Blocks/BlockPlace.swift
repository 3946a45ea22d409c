// Where a block is: its header's checksum covers it, so a copy of a block in a file's content is not a block.

internal import Compression

/// The segment that blocks are in, as their checksums cover it: the ids of the archive and of the segment.
///
/// The archive's id is in no file name: the right to list the segments is not enough to make a valid block.
package struct BlockOrigin: Hashable, Sendable {
    /// The CRC-32 of the two ids.
    fileprivate let checksum: UInt32

    package init(archive: ArchiveID, segment: SegmentID) {
        checksum = (archive.bytes + segment.bytes).withUnsafeBytes { crc32($0) }
    }
}

/// The place of a block: its segment, and its offset there.
package struct BlockPlace: Hashable, Sendable {
    package let origin: BlockOrigin
    /// Bytes from the segment's start to the block.
    package let offset: Int

    package init(in origin: BlockOrigin, offset: Int) {
        self.origin = origin
        self.offset = offset
    }

    /// The CRC-32 of the place's 40 bytes: both ids, then the offset.
    var checksum: UInt32 {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(UInt64(offset))
        return bytes.withUnsafeBytes { crc32($0, continuing: origin.checksum) }
    }
}
