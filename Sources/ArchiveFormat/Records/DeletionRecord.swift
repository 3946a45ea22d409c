// The record of how long deleted files had lived, for the snapshots that have them last.

package import FileIO

/// Records how long the files had lived that snapshots are the last to have.
///
/// Thinning keeps such snapshots by that. It writes the record before it forgets other snapshots, as without those the
/// deletion or the file's age may no longer show.
package struct DeletionRecord: ArchiveRecord {
    package static let kind = ChunkKind.deletion
    package var times: [Timestamp] { [time] }

    /// When this was recorded.
    package let time: Timestamp
    /// The chunks that hold the records of the snapshots, in ascending order without duplicates, at least one.
    package let snapshots: [ChunkID]
    /// For each snapshot, the age in seconds of the oldest file that it is the last to have.
    package let lifetimes: [UInt64]

    /// The most snapshots that one such record can name.
    package static let limit = 65_536

    private init(time: Timestamp, _ sorted: some Collection<(key: ChunkID, value: UInt64)>) {
        self.time = time
        snapshots = sorted.map(\.key)
        lifetimes = sorted.map(\.value)
    }

    /// Records any number of lifetimes by snapshot, with as many values as needed.
    package static func splitting(_ lifetimes: [SnapshotID: UInt64], at time: Timestamp) -> [DeletionRecord] {
        let sorted = lifetimes.map { (key: $0.key.chunk, value: $0.value) }.sorted { $0.key < $1.key }
        return stride(from: 0, to: sorted.count, by: limit).map { start in
            DeletionRecord(time: time, sorted[start...].prefix(limit))
        }
    }

    package enum CodingKeys: Int, CodingKey, CaseIterable {
        case time = 0
        case snapshots = 1
        case lifetimes = 2
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        time = try fields.decode(Timestamp.self, forKey: .time)
        snapshots = try fields.decode([ChunkID].self, forKey: .snapshots)
        lifetimes = try fields.decode([UInt64].self, forKey: .lifetimes)
        try decoder.checking { () throws(FormatError) in try validate() }
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(time, forKey: .time)
        try fields.encode(snapshots, forKey: .snapshots)
        try fields.encode(lifetimes, forKey: .lifetimes)
    }

    private func validate() throws(FormatError) {
        try ForgottenRecords.check(ordered: snapshots)
        guard lifetimes.count == snapshots.count else {
            throw .malformed("the numbers of snapshots and of lifetimes differ")
        }
    }
}

extension ChunkKind {
    /// An encoded `DeletionRecord`.
    package static let deletion = ChunkKind(rawValue: 15)
}
