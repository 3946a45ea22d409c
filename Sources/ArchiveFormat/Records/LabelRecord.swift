// A label given late: what a snapshot or a saved state is called from now on. The snapshot itself never changes.

package import FileIO

/// What a snapshot or a saved state is called: of all records about it the latest counts, before the label it was made with.
package struct LabelRecord: ArchiveRecord {
    package static let kind = ChunkKind.label

    /// The chunk that holds the record of the snapshot or the state.
    package let target: ChunkID
    /// When it was said; later than all that was said of its label before.
    package let time: Timestamp
    /// Nil: it has no label any more.
    package let label: String?

    /// The most bytes of a label.
    package static let limit = 4096

    package init(target: ChunkID, time: Timestamp, label: String?) {
        self.target = target
        self.time = time
        self.label = label
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        target = try fields.decode(ChunkID.self, forKey: .target)
        time = try fields.decode(Timestamp.self, forKey: .time)
        label = try fields.decodeIfPresent(String.self, forKey: .label)
        try decoder.checking { () throws(FormatError) in
            try FormatLimits.check(label, LabelRecord.limit, "a label")
        }
    }

    package enum CodingKeys: Int, CodingKey, CaseIterable {
        case target = 0
        case time = 1
        case label = 2
    }
}
