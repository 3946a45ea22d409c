// That records are forgotten: states and snapshots that are to be listed no more.

public import FileIO

/// That snapshots and saved states are forgotten: neither listed nor loaded any more, stored as a chunk of its own.
public struct ForgottenRecords: Hashable, Sendable {
    /// When they were forgotten.
    public let time: Timestamp
    /// The chunks that hold the records, in ascending order, none twice, at least one.
    public let records: [ChunkID]

    /// Forgets `records`.
    public init(time: Timestamp, records: Set<ChunkID>) {
        self.time = time
        self.records = records.sorted()
    }
}
