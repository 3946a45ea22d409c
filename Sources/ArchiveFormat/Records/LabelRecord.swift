// The record of a new label for an existing snapshot or saved state, which itself never changes.

package import FileIO

/// A label of a snapshot or a saved state.
///
/// The last label record counts. It overrides the label that the snapshot or state was created with.
package struct LabelRecord: ArchiveRecord {
    package static let kind = ChunkKind.label
    package var times: [Timestamp] { [time] }

    /// The chunk that holds the record of the snapshot or state.
    package let target: ChunkID
    /// When the label was set, as the clock showed it.
    package let time: Timestamp
    /// The label; nil removes it.
    package let label: String?
    /// Its place among the labels of the target: the last one counts.
    package let sequence: UInt64

    /// The most bytes of a label.
    package static let limit = 4096

    package init(target: ChunkID, time: Timestamp, label: String?, sequence: UInt64 = 1) {
        self.target = target
        self.time = time
        self.label = label
        self.sequence = sequence
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        target = try fields.decode(ChunkID.self, forKey: .target)
        time = try fields.decode(Timestamp.self, forKey: .time)
        label = try fields.decodeIfPresent(String.self, forKey: .label)
        sequence = try fields.decodeIfPresent(UInt64.self, forKey: .sequence) ?? 1
        try decoder.checking { () throws(FormatError) in
            try FormatLimits.check(label, LabelRecord.limit, "a label")
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(target, forKey: .target)
        try fields.encode(time, forKey: .time)
        try fields.encodeIfPresent(label, forKey: .label)
        if sequence != 1 { try fields.encode(sequence, forKey: .sequence) }
    }

    package static func read(quickly reader: inout CBORReader) throws(FormatError) -> LabelRecord? {
        let count = try reader.map()
        guard count >= 2, try reader.unsigned() == 0 else { return nil }
        let target = try reader.chunkID()
        guard try reader.unsigned() == 1 else { return nil }
        let time = try reader.timestamp()
        var (label, sequence): (String?, UInt64) = (nil, 1)
        for _ in 2..<count {
            switch try reader.unsigned() {
            case 2 where label == nil && sequence == 1: label = try reader.text()
            case 3 where sequence == 1:
                sequence = try reader.unsigned()
                if sequence == 1 { return nil }
            default: return nil
            }
        }
        try FormatLimits.check(label, LabelRecord.limit, "a label")
        return LabelRecord(target: target, time: time, label: label, sequence: sequence)
    }

    package enum CodingKeys: Int, CodingKey, CaseIterable {
        case target = 0
        case time = 1
        case label = 2
        case sequence = 3
    }
}

extension ChunkKind {
    /// An encoded `LabelRecord`.
    package static let label = ChunkKind(rawValue: 10)
}
