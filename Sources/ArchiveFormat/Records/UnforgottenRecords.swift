// The record of forgotten snapshots and saved states that are listed again.

package import FileIO

/// Records that forgotten snapshots and saved states are listed again; the latest statement about each one counts.
package struct UnforgottenRecords: ArchiveRecord {
    package static let kind = ChunkKind.unforgotten
    package var times: [Timestamp] { [time] }

    /// When they were brought back; this wins over a forgetting at exactly the same time.
    package let time: Timestamp
    /// The chunks that hold the forgotten records, in ascending order without duplicates, at least one.
    package let records: [ChunkID]

    /// The most forgotten records that one such record can name.
    package static let limit = ForgottenRecords.limit

    /// Brings back `records`, at least one and at most `limit`.
    package init(time: Timestamp, records: Set<ChunkID>) {
        self.time = time
        self.records = records.sorted()
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        time = try fields.decode(Timestamp.self, forKey: .time)
        records = try fields.decode([ChunkID].self, forKey: .records)
        try decoder.checking { () throws(FormatError) in try ForgottenRecords.check(ordered: records) }
    }

    package enum CodingKeys: Int, CodingKey, CaseIterable {
        case time = 0
        case records = 1
    }

    /// Brings back any number of `records`, with as many values as needed.
    package static func splitting(_ records: Set<ChunkID>, at time: Timestamp) -> [UnforgottenRecords] {
        let sorted = records.sorted()
        return stride(from: 0, to: sorted.count, by: limit).map { start in
            UnforgottenRecords(time: time, records: Set(sorted[start...].prefix(limit)))
        }
    }
}

extension ChunkKind {
    /// An encoded `UnforgottenRecords`.
    package static let unforgotten = ChunkKind(rawValue: 14)
}
