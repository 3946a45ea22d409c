// That records are forgotten: states and snapshots that are to be listed no more.

public import FileIO

/// Why something was forgotten.
public struct ForgettingReason: RawRepresentable, Hashable, Sendable {
    /// Its number in the archive format; later versions may know more of them.
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Somebody asked for it.
    public static let asked = ForgettingReason(rawValue: 0)
    /// A policy lets it go.
    public static let policy = ForgettingReason(rawValue: 1)
    /// The archive had no room for it.
    public static let room = ForgettingReason(rawValue: 2)
    /// Something in it was removed from all history; where there is more in it, another one stands in its place.
    public static let purged = ForgettingReason(rawValue: 3)
}

/// That snapshots and saved states are forgotten: neither listed nor loaded any more, stored as a chunk of its own.
public struct ForgottenRecords: Hashable, Sendable {
    /// When they were forgotten.
    public let time: Timestamp
    /// The chunks that hold the records, in ascending order, none twice, at least one.
    public let records: [ChunkID]
    /// Why they were forgotten.
    public let reason: ForgettingReason

    /// The most records that one chunk tells of.
    package static let limit = 65_536

    /// Forgets `records`, at most `limit` of them.
    public init(time: Timestamp, records: Set<ChunkID>, reason: ForgettingReason = .asked) {
        self.init(time: time, sorted: records.sorted(), reason)
    }

    private init(time: Timestamp, sorted records: [ChunkID], _ reason: ForgettingReason) {
        self.time = time
        self.records = records
        self.reason = reason
    }

    /// Forgets `records`, however many they are.
    package static func splitting(
        _ records: Set<ChunkID>, at time: Timestamp, reason: ForgettingReason = .asked
    ) -> [ForgottenRecords] {
        let sorted = records.sorted()
        return stride(from: 0, to: sorted.count, by: limit).map { start in
            ForgottenRecords(time: time, sorted: Array(sorted[start...].prefix(limit)), reason)
        }
    }
}
