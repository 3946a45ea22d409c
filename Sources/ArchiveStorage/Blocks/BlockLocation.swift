// The location of a block in the archive.

/// A block's location: the catalogue's number of the segment, and the block's offset in it.
package struct BlockLocation: Hashable, Sendable {
    /// The segment's number in this catalogue; a rebuilt catalogue numbers segments differently.
    package let segment: Int64
    /// Bytes from the segment's start to the block's header.
    package let offset: Int

    package init(segment: Int64, offset: Int) {
        self.segment = segment
        self.offset = offset
    }

    /// Both parts in one integer, as stored in the catalogue.
    package var packed: Int64 { segment << 32 | Int64(offset) }

    /// The range of the packed locations in a segment.
    static func packed(ofSegment number: Int64) -> Range<Int64> {
        (number << 32)..<((number + 1) << 32)
    }

    init(packed: Int64) {
        segment = packed >> 32
        offset = Int(packed & 0xFFFF_FFFF)
    }
}
