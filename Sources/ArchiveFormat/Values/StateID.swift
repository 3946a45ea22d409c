// Ids of saved states.

/// The id of a saved state: the id of the chunk that holds its record.
public struct StateID: Hashable, Sendable, Comparable {
    /// The chunk that holds the state's record.
    public let chunk: ChunkID

    /// The state recorded in `chunk`.
    package init(_ chunk: ChunkID) { self.chunk = chunk }

    /// The id as 64 hex digits.
    public var hex: String { chunk.hex }

    /// The first 8 hex digits, as lists show them.
    package var short: String { String(hex.prefix(8)) }

    public static func < (left: StateID, right: StateID) -> Bool { left.chunk < right.chunk }
}

extension StateID: CustomStringConvertible {
    public var description: String { hex }
}
