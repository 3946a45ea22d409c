// The record of segments that are known to be lost: nobody expects them back, and they are no longer reported.

package import FileIO

/// Records that segments are lost for good.
///
/// Unlike dropped segments, they are read if they turn up again.
package struct LostSegments: ArchiveRecord {
    package static let kind = ChunkKind.lostSegments
    package var times: [Timestamp] { [time] }
    package var texts: [(text: String?, limit: Int)] { [(reason, FormatLimits.textBytes)] }

    /// When this was recorded.
    package let time: Timestamp
    /// The segments' ids in ascending order without duplicates, at least one.
    package let segments: [SegmentID]
    /// Why they are lost, for people.
    package let reason: String?

    /// Records the loss of `segments`, at least one and at most `DroppedSegments.limit`.
    package init(time: Timestamp, segments: Set<SegmentID>, reason: String? = nil) {
        self.time = time
        self.segments = segments.sorted()
        self.reason = reason
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        time = try fields.decode(Timestamp.self, forKey: .time)
        segments = try fields.decode([SegmentID].self, forKey: .segments)
        reason = try fields.decodeIfPresent(String.self, forKey: .reason)
        try decoder.checking { () throws(FormatError) in try validate() }
    }

    package enum CodingKeys: Int, CodingKey, CaseIterable {
        case time = 0
        case segments = 1
        case reason = 2
    }

    private func validate() throws(FormatError) {
        guard (1...DroppedSegments.limit).contains(segments.count),
            zip(segments, segments.dropFirst()).allSatisfy({ $0 < $1 })
        else { throw .malformed("the list of lost segments is empty, too long or out of order") }
        try FormatLimits.check(reason, FormatLimits.textBytes, "a reason")
    }
}

extension ChunkKind {
    /// An encoded `LostSegments`.
    package static let lostSegments = ChunkKind(rawValue: 17)
}
