// The first block of a segment: a copy of archive.json, and the names of the other segments. So neither archive.json
// nor a segment can be lost unnoticed.

package import FileIO

/// What a segment says about its archive.
package struct SegmentOpening: ArchiveRecord {
    package static let kind = ChunkKind.opening
    package var times: [Timestamp] { [] }

    /// The id of the segment that this is the opening of; in any other segment it means nothing.
    package let segment: SegmentID
    /// The bytes of archive.json when the segment was begun.
    package let manifest: String
    /// The segments that the writer knew, apart from this one and dropped ones, in ascending order.
    package let others: [SegmentID]

    /// The most segments that one opening names: the newest ones.
    package static let limit = 65_536

    /// - Parameter others: the other segments, at most `limit`.
    package init(of segment: SegmentID, _ manifest: ArchiveManifest, others: Set<SegmentID>) {
        self.segment = segment
        self.manifest = String(decoding: manifest.encoded(), as: UTF8.self)
        self.others = others.sorted()
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        segment = try fields.decode(SegmentID.self, forKey: .segment)
        manifest = try fields.decode(String.self, forKey: .manifest)
        others = try fields.decodeIfPresent([SegmentID].self, forKey: .others) ?? []
        try decoder.checking { () throws(FormatError) in try validate() }
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(segment, forKey: .segment)
        try fields.encode(manifest, forKey: .manifest)
        if !others.isEmpty { try fields.encode(others, forKey: .others) }
    }

    package enum CodingKeys: Int, CodingKey, CaseIterable {
        case segment = 0
        case manifest = 1
        case others = 2
    }

    private func validate() throws(FormatError) {
        guard others.count <= SegmentOpening.limit, zip(others, others.dropFirst()).allSatisfy({ $0 < $1 }) else {
            throw .malformed("the list of segments is too long or out of order")
        }
        try FormatLimits.check(manifest, ArchiveManifest.byteLimit, "a copy of archive.json")
    }
}

extension ChunkKind {
    /// An encoded `SegmentOpening`.
    package static let opening = ChunkKind(rawValue: 16)
}

extension BlockHeader {
    /// Whether a block with this header, if it is the first of its segment, is the segment's opening.
    package var isOpening: Bool { chunks.count == 1 && chunks[0].kind == .opening }
}
