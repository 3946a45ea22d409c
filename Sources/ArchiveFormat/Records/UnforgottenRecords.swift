// The record of forgotten snapshots and saved states that are listed again.

package import FileIO

/// Records that forgotten snapshots and saved states are listed again; the last statement about each one counts.
package struct UnforgottenRecords: ArchiveRecord {
    package static let kind = ChunkKind.unforgotten
    package var times: [Timestamp] { [time] }

    /// When they were brought back.
    package let time: Timestamp
    /// The chunks that hold the forgotten records, in ascending order without duplicates, at least one.
    package let records: [ChunkID]
    /// Its place among the statements about these records: the last one counts.
    package let sequence: UInt64

    /// The most forgotten records that one such record can name.
    package static let limit = ForgottenRecords.limit

    /// Brings back `records`, at least one and at most `limit`.
    package init(time: Timestamp, records: Set<ChunkID>, sequence: UInt64 = 1) {
        self.time = time
        self.records = records.sorted()
        self.sequence = sequence
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        time = try fields.decode(Timestamp.self, forKey: .time)
        records = try fields.decode([ChunkID].self, forKey: .records)
        sequence = try fields.decodeIfPresent(UInt64.self, forKey: .sequence) ?? 1
        try decoder.checking { () throws(FormatError) in try ForgottenRecords.check(ordered: records) }
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(time, forKey: .time)
        try fields.encode(records, forKey: .records)
        if sequence != 1 { try fields.encode(sequence, forKey: .sequence) }
    }

    package enum CodingKeys: Int, CodingKey, CaseIterable {
        case time = 0
        case records = 1
        case sequence = 2
    }

    /// Brings back any number of `records`, with as many values as needed.
    package static func splitting(
        _ records: Set<ChunkID>, at time: Timestamp, sequence: UInt64 = 1
    ) -> [UnforgottenRecords] {
        let sorted = records.sorted()
        return stride(from: 0, to: sorted.count, by: limit).map { start in
            UnforgottenRecords(time: time, records: Set(sorted[start...].prefix(limit)), sequence: sequence)
        }
    }
}

extension ChunkKind {
    /// An encoded `UnforgottenRecords`.
    package static let unforgotten = ChunkKind(rawValue: 14)
}
