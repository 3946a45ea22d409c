// Ids of snapshots.

/// The id of a snapshot: the id of the chunk that holds its record.
public struct SnapshotID: Hashable, Sendable, Comparable {
    /// The chunk that holds the snapshot.
    public let chunk: ChunkID

    /// The snapshot stored in `chunk`.
    package init(_ chunk: ChunkID) { self.chunk = chunk }

    /// Parses 64 hex digits; nil for any other text.
    public init?(hex: String) {
        guard let chunk = ChunkID(hex: hex) else { return nil }
        self.chunk = chunk
    }

    /// The id as 64 hex digits.
    public var hex: String { chunk.hex }

    /// The first 8 hex digits, as lists show them.
    package var short: String { String(hex.prefix(2 * SnapshotID.shortByteCount)) }

    /// The number of bytes that `short` shows.
    package static let shortByteCount = 4

    public static func < (left: SnapshotID, right: SnapshotID) -> Bool { left.chunk < right.chunk }
}

extension SnapshotID: CustomStringConvertible {
    public var description: String { hex }
}

extension SnapshotID: Codable {
    public init(from decoder: any Decoder) throws { self.init(try ChunkID(from: decoder)) }

    public func encode(to encoder: any Encoder) throws { try chunk.encode(to: encoder) }
}
