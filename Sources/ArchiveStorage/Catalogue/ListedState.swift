// A saved state as lists show it.

public import ArchiveFormat
public import FileIO
internal import Foundation

/// A saved state as the catalogue lists it.
public struct ListedState: Sendable, Hashable, Identifiable {
    /// The id, which depends on everything in the state's record.
    public let id: StateID
    /// The title under which the program saves its states.
    public let title: String
    /// The machine that saved it.
    public let host: String
    /// When it was saved, as the clock showed it: where a clock was wrong, later states have earlier times.
    public let time: Timestamp
    /// Its place in the order of its title.
    public let sequence: UInt64
    /// The label; nil if it has none.
    public let label: String?
    /// The name of the state's type, for people.
    public let type: String
    /// The version of the state's type.
    public let version: Int
    /// Bytes of the state itself.
    public let bytes: UInt64
    /// Bytes the archive grew by for this state.
    public let storedBytes: UInt64

    /// The listed form of `record`.
    ///
    /// - Parameter ownBytes: length of the block that holds the record.
    package init(_ record: StateRecord, id: StateID, ownBytes: Int) {
        self.init(
            id: id, title: record.title, host: record.host, time: record.time, sequence: record.sequence,
            label: record.label, type: record.type, version: Int(record.version), bytes: record.content.size,
            storedBytes: FormatLimits.sum(record.storedBytes, UInt64(ownBytes), FormatLimits.bytes))
    }

    package init(
        id: StateID, title: String, host: String, time: Timestamp, sequence: UInt64, label: String?, type: String,
        version: Int, bytes: UInt64, storedBytes: UInt64
    ) {
        self.id = id
        self.title = title
        self.host = host
        self.time = time
        self.sequence = sequence
        self.label = label
        self.type = type
        self.version = version
        self.bytes = bytes
        self.storedBytes = storedBytes
    }
}

extension ListedState {
    /// The first 8 hex digits of the id, as lists show them.
    public var shortID: String { id.short }
}

/// A title, with totals of its states.
public struct StateTitle: Sendable, Hashable {
    /// The title.
    public let title: String
    /// The number of states.
    public let count: Int
    /// When the latest state was saved.
    public let latest: Timestamp
    /// Bytes that the archive grew by for all of them.
    public let storedBytes: UInt64

    /// The form in which a title is stored: texts that look the same are one title, however they are composed.
    package static func canonical(_ title: String) -> String {
        title.utf8.allSatisfy { $0 < 0x80 } ? title : title.precomposedStringWithCanonicalMapping
    }
}
