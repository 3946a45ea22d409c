// The record of snapshots and saved states that are forgotten: they are no longer listed.

package import FileIO

/// Why records were forgotten.
public struct ForgettingReason: RawRepresentable, Hashable, Sendable {
    /// The number in the archive format; later programs may add more.
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// A user or a program requested it.
    public static let asked = ForgettingReason(rawValue: 0)
    /// A policy does not keep it.
    public static let policy = ForgettingReason(rawValue: 1)
    /// The archive had no room for it.
    public static let room = ForgettingReason(rawValue: 2)
    /// Something in it was removed from all history; if anything is left of it, a new snapshot replaces it.
    public static let purged = ForgettingReason(rawValue: 3)
}

/// Records that snapshots and saved states are forgotten: they are neither listed nor loaded any more.
package struct ForgottenRecords: Hashable, Sendable {
    /// When they were forgotten.
    package let time: Timestamp
    /// The chunks that hold the forgotten records, in ascending order without duplicates, at least one.
    package let records: [ChunkID]
    /// Why they were forgotten.
    package let reason: ForgettingReason
    /// Its place among the statements about these records: the last one counts.
    package let sequence: UInt64

    /// The most forgotten records that one such record can name.
    package static let limit = 65_536

    /// Forgets `records`, at least one and at most `limit`.
    package init(
        time: Timestamp, records: Set<ChunkID>, reason: ForgettingReason = .asked, sequence: UInt64 = 1
    ) {
        self.init(time: time, sorted: records.sorted(), reason, sequence)
    }

    private init(time: Timestamp, sorted records: [ChunkID], _ reason: ForgettingReason, _ sequence: UInt64) {
        self.time = time
        self.records = records
        self.reason = reason
        self.sequence = sequence
    }

    /// Forgets any number of `records`, with as many values as needed.
    package static func splitting(
        _ records: Set<ChunkID>, at time: Timestamp, reason: ForgettingReason = .asked, sequence: UInt64 = 1
    ) -> [ForgottenRecords] {
        let sorted = records.sorted()
        return stride(from: 0, to: sorted.count, by: limit).map { start in
            ForgottenRecords(time: time, sorted: Array(sorted[start...].prefix(limit)), reason, sequence)
        }
    }
}

extension ForgottenRecords: ArchiveRecord {
    package static let kind = ChunkKind.forgotten
    package var times: [Timestamp] { [time] }
}

extension ForgottenRecords {
    /// The fields of a record.
    ///
    /// Numbers are part of the archive format.
    package enum CodingKeys: Int, CodingKey, CaseIterable {
        case time = 0
        case records = 1
        case reason = 2
        case sequence = 3
    }

    /// Creates the record from decoded fields: a wrong order is refused, not corrected.
    private init(
        time: Timestamp, ordered records: [ChunkID], _ reason: ForgettingReason, _ sequence: UInt64
    ) throws(FormatError) {
        try ForgottenRecords.check(ordered: records)
        self.init(time: time, records: Set(records), reason: reason, sequence: sequence)
    }

    /// Refuses a list that is empty, too long or out of order.
    static func check(ordered records: [ChunkID]) throws(FormatError) {
        guard (1...limit).contains(records.count), zip(records, records.dropFirst()).allSatisfy({ $0 < $1 }) else {
            throw .malformed("the list of records is empty, too long or out of order")
        }
    }
}

extension ForgottenRecords: Codable {
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let time = try fields.decode(Timestamp.self, forKey: .time)
        let records = try fields.decode([ChunkID].self, forKey: .records)
        let reason = try fields.decodeIfPresent(UInt64.self, forKey: .reason)
        let sequence = try fields.decodeIfPresent(UInt64.self, forKey: .sequence) ?? 1
        self = try decoder.checking { () throws(FormatError) in
            if reason == ForgettingReason.asked.rawValue { throw .malformed("a default value is written out") }
            return try ForgottenRecords(
                time: time, ordered: records, reason.map { ForgettingReason(rawValue: $0) } ?? .asked, sequence)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(time, forKey: .time)
        try fields.encode(records, forKey: .records)
        if reason != .asked { try fields.encode(reason.rawValue, forKey: .reason) }
        if sequence != 1 { try fields.encode(sequence, forKey: .sequence) }
    }
}

extension ChunkKind {
    /// An encoded `ForgottenRecords`.
    package static let forgotten = ChunkKind(rawValue: 7)
}
