// The record of segments that were dropped on purpose: they are not lost, and a copy that turns up again is not read.

package import FileIO

/// Records that segments were removed because nothing in them was needed any more.
package struct DroppedSegments: ArchiveRecord {
    package static let kind = ChunkKind.droppedSegments
    package var times: [Timestamp] { [time] }

    /// When they were dropped.
    package let time: Timestamp
    /// The segments' ids in ascending order without duplicates, at least one.
    package let segments: [SegmentID]

    /// The most segments that one record names.
    package static let limit = 65_536

    /// Records the drop of `segments`, at least one and at most `limit`.
    package init(time: Timestamp, segments: Set<SegmentID>) {
        self.time = time
        self.segments = segments.sorted()
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        time = try fields.decode(Timestamp.self, forKey: .time)
        segments = try fields.decode([SegmentID].self, forKey: .segments)
        try decoder.checking { () throws(FormatError) in try validate() }
    }

    package enum CodingKeys: Int, CodingKey, CaseIterable {
        case time = 0
        case segments = 1
    }

    private func validate() throws(FormatError) {
        guard (1...DroppedSegments.limit).contains(segments.count),
            zip(segments, segments.dropFirst()).allSatisfy({ $0 < $1 })
        else { throw .malformed("the list of dropped segments is empty, too long or out of order") }
    }
}

extension ChunkKind {
    /// An encoded `DroppedSegments`.
    package static let droppedSegments = ChunkKind(rawValue: 9)
}
