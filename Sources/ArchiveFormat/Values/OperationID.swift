// Ids of operations.

/// The id of an operation: the id of the chunk that holds its record.
public struct OperationID: Hashable, Sendable, Comparable {
    /// The chunk that holds the record.
    public let chunk: ChunkID

    /// The operation recorded in `chunk`.
    package init(_ chunk: ChunkID) { self.chunk = chunk }

    /// Parses 64 hex digits; nil for any other text.
    public init?(hex: String) {
        guard let chunk = ChunkID(hex: hex) else { return nil }
        self.chunk = chunk
    }

    /// The id as 64 hex digits.
    public var hex: String { chunk.hex }

    /// The first 8 hex digits, as lists show them.
    package var short: String { String(hex.prefix(8)) }

    public static func < (left: OperationID, right: OperationID) -> Bool { left.chunk < right.chunk }
}

extension OperationID: CustomStringConvertible {
    public var description: String { hex }
}

extension OperationID: Codable {
    public init(from decoder: any Decoder) throws { self.init(try ChunkID(from: decoder)) }

    public func encode(to encoder: any Encoder) throws { try chunk.encode(to: encoder) }
}
