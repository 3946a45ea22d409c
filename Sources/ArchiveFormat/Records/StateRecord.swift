// A program's state as it was saved: what is known of it, and where its bytes are.

public import FileIO

/// A program's state at one instant, stored as a chunk whose id is the state's.
public struct StateRecord: Hashable, Sendable {
    /// The name under which the program keeps its states, not empty.
    public let title: String
    /// The name of the machine that saved it.
    public let host: String
    /// When it was saved.
    public let time: Timestamp
    /// The user's name for this one state.
    public let label: String?
    /// The name of the state's type, for people.
    public let type: String
    /// The version of the state's type, at least 1.
    public let version: UInt32
    /// The state's bytes, one CBOR item: kept as a file's content is, without holes.
    public let content: Content
    /// Bytes appended to the archive for the content, without the block that holds this record.
    public let storedBytes: UInt64

    public init(
        title: String, host: String, time: Timestamp, label: String? = nil, type: String, version: UInt32 = 1,
        content: Content, storedBytes: UInt64 = 0
    ) {
        self.title = title
        self.host = host
        self.time = time
        self.label = label
        self.type = type
        self.version = version
        self.content = content
        self.storedBytes = storedBytes
    }
}
