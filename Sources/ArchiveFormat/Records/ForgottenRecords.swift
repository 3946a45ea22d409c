// That records are forgotten: states and snapshots that are to be listed no more.

public import FileIO

/// That snapshots and saved states are forgotten: neither listed nor loaded any more, stored as a chunk of its own.
public struct ForgottenRecords: Hashable, Sendable {
    /// When they were forgotten.
    public let time: Timestamp
    /// The chunks that hold the records, in ascending order, none twice, at least one.
    public let records: [ChunkID]

    /// The most records that one chunk tells of.
    package static let limit = 65_536

    /// Forgets `records`, at most `limit` of them.
    public init(time: Timestamp, records: Set<ChunkID>) {
        self.init(time: time, sorted: records.sorted())
    }

    private init(time: Timestamp, sorted records: [ChunkID]) {
        self.time = time
        self.records = records
    }

    /// Forgets `records`, however many they are.
    package static func splitting(_ records: Set<ChunkID>, at time: Timestamp) -> [ForgottenRecords] {
        let sorted = records.sorted()
        return stride(from: 0, to: sorted.count, by: limit).map { start in
            ForgottenRecords(time: time, sorted: Array(sorted[start...].prefix(limit)))
        }
    }
}
