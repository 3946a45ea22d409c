// Where a block lies in the archive.

/// The place of a block: the catalogue's number of the segment, and the block's offset in it.
package struct BlockLocation: Hashable, Sendable {
    /// The segment's number in this catalogue; numbers do not outlive the catalogue.
    package let segment: Int64
    /// Bytes from the segment's start to the block's header.
    package let offset: Int

    package init(segment: Int64, offset: Int) {
        self.segment = segment
        self.offset = offset
    }

    /// Both parts in one integer, as the catalogue stores them.
    var packed: Int64 { segment << 32 | Int64(offset) }

    /// The integers of the places in a segment.
    static func packed(ofSegment number: Int64) -> Range<Int64> {
        (number << 32)..<((number + 1) << 32)
    }

    init(packed: Int64) {
        segment = packed >> 32
        offset = Int(packed & 0xFFFF_FFFF)
    }
}
