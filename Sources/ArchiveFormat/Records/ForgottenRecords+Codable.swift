// Forgotten records as Codable values: fields that have their default values are left out.

internal import FileIO

extension ForgottenRecords {
    /// The fields of a record.
    ///
    /// Numbers are part of the archive format.
    package enum CodingKeys: Int, CodingKey, CaseIterable {
        case time = 0
        case records = 1
        case reason = 2
    }

    /// Records as they were read: their order is checked, not mended.
    private init(
        time: Timestamp, ordered records: [ChunkID], _ reason: ForgettingReason
    ) throws(FormatError) {
        try ForgottenRecords.check(ordered: records)
        self.init(time: time, records: Set(records), reason: reason)
    }

    /// Refuses a list of none, of too many, or out of order.
    static func check(ordered records: [ChunkID]) throws(FormatError) {
        guard (1...limit).contains(records.count), zip(records, records.dropFirst()).allSatisfy({ $0 < $1 }) else {
            throw .malformed("forgotten records out of order, or none")
        }
    }
}

extension ForgottenRecords: ArchiveRecord {
    package static let kind = ChunkKind.forgotten
}

extension ForgottenRecords: Codable {
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let time = try fields.decode(Timestamp.self, forKey: .time)
        let records = try fields.decode([ChunkID].self, forKey: .records)
        let reason = try fields.decodeIfPresent(UInt64.self, forKey: .reason)
        self = try decoder.checking { () throws(FormatError) in
            if reason == ForgettingReason.asked.rawValue { throw .malformed("a default that is written out") }
            return try ForgottenRecords(
                time: time, ordered: records, reason.map { ForgettingReason(rawValue: $0) } ?? .asked)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(time, forKey: .time)
        try fields.encode(records, forKey: .records)
        if reason != .asked { try fields.encode(reason.rawValue, forKey: .reason) }
    }
}
