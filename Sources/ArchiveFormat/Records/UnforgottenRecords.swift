// That forgotten records are to be listed again.

package import FileIO

/// That snapshots and saved states which were forgotten are listed again: of what is said of a record, the latest counts.
package struct UnforgottenRecords: ArchiveRecord {
    package static let kind = ChunkKind.unforgotten

    /// When they were brought back; where they were forgotten at that very time, they are back.
    package let time: Timestamp
    /// The chunks that hold the records, in ascending order, none twice, at least one.
    package let records: [ChunkID]

    /// The most records that one chunk tells of.
    package static let limit = ForgottenRecords.limit

    /// Brings back `records`, at least one and at most `limit` of them.
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

    /// Brings back `records`, however many they are.
    package static func splitting(_ records: Set<ChunkID>, at time: Timestamp) -> [UnforgottenRecords] {
        let sorted = records.sorted()
        return stride(from: 0, to: sorted.count, by: limit).map { start in
            UnforgottenRecords(time: time, records: Set(sorted[start...].prefix(limit)))
        }
    }
}
