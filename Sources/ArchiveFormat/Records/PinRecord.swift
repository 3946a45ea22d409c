// The record of a pin, which keeps a snapshot or a saved state whatever the policy says.

package import FileIO

/// Pins a snapshot or a saved state, or removes its pin; the last record counts.
package struct PinRecord: ArchiveRecord {
    package static let kind = ChunkKind.pin
    package var times: [Timestamp] { [time] + (until.map { [$0] } ?? []) }

    /// The chunk that holds the record of the snapshot or state.
    package let target: ChunkID
    /// When the pin was set or removed, as the clock showed it.
    package let time: Timestamp
    /// When the pin ends on its own; nil if it does not.
    package let until: Timestamp?
    /// Why, for people.
    package let reason: String?
    /// Whether this removes the pin; then it has neither an end nor a reason.
    package let isRemoved: Bool
    /// Its place among the pins of the target: the last one counts.
    package let sequence: UInt64

    /// The most bytes of a reason.
    package static let reasonLimit = 4096

    /// Creates a pin.
    package init(
        target: ChunkID, time: Timestamp, until: Timestamp? = nil, reason: String? = nil, sequence: UInt64 = 1
    ) {
        self.target = target
        self.time = time
        self.until = until
        self.reason = reason
        isRemoved = false
        self.sequence = sequence
    }

    /// Creates the removal of a pin.
    package init(removedFrom target: ChunkID, time: Timestamp, sequence: UInt64 = 1) {
        self.target = target
        self.time = time
        until = nil
        reason = nil
        isRemoved = true
        self.sequence = sequence
    }

    /// Whether the pin keeps its target at `time`.
    package func holds(at time: Timestamp) -> Bool { !isRemoved && until.map { time < $0 } ?? true }

    package enum CodingKeys: Int, CodingKey, CaseIterable {
        case target = 0
        case time = 1
        case until = 2
        case reason = 3
        case isRemoved = 4
        case sequence = 5
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        target = try fields.decode(ChunkID.self, forKey: .target)
        time = try fields.decode(Timestamp.self, forKey: .time)
        until = try fields.decodeIfPresent(Timestamp.self, forKey: .until)
        reason = try fields.decodeIfPresent(String.self, forKey: .reason)
        isRemoved = try fields.decodeIfPresent(Bool.self, forKey: .isRemoved) ?? false
        sequence = try fields.decodeIfPresent(UInt64.self, forKey: .sequence) ?? 1
        try decoder.checking { () throws(FormatError) in try validate() }
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(target, forKey: .target)
        try fields.encode(time, forKey: .time)
        try fields.encodeIfPresent(until, forKey: .until)
        try fields.encodeIfPresent(reason, forKey: .reason)
        if isRemoved { try fields.encode(isRemoved, forKey: .isRemoved) }
        if sequence != 1 { try fields.encode(sequence, forKey: .sequence) }
    }

    private func validate() throws(FormatError) {
        if isRemoved, until != nil || reason != nil {
            throw .malformed("a removed pin has an end or a reason")
        }
        try FormatLimits.check(reason, PinRecord.reasonLimit, "a reason")
    }
}

extension ChunkKind {
    /// An encoded `PinRecord`.
    package static let pin = ChunkKind(rawValue: 11)
}
