// A state in the archive, as caretakers list it.

public import ArchiveFormat
package import ArchiveStorage
public import Archives
public import FileIO
public import Foundation

/// What an archive keeps of an originator's state at one instant; the state itself is loaded by it.
public struct Memento: Sendable, Hashable {
    /// The id of the chunk that holds its record.
    public let id: ChunkID
    /// The name under which the states are kept; of a directory, its path.
    public let title: String
    /// When the state was saved.
    public let time: Timestamp
    /// The user's name for it.
    public let label: String?
    /// Bytes of the state itself; of a directory, of all its files.
    public let bytes: UInt64
    /// Bytes that the archive grew by for it.
    public let storedBytes: UInt64

    /// When the state was saved, for formatters and calendars, to within a microsecond.
    public var date: Date {
        Date(timeIntervalSince1970: Double(time.seconds) + Double(time.nanoseconds) / 1_000_000_000)
    }

    /// The id's first 8 hex digits, as lists show them.
    public var short: String { String(id.hex.prefix(8)) }

    package init(_ state: ListedState) {
        id = state.id.chunk
        title = state.title
        time = state.time
        label = state.label
        bytes = state.bytes
        storedBytes = state.storedBytes
    }

    package init(_ snapshot: ListedSnapshot) {
        id = snapshot.id.chunk
        title = String(decoding: snapshot.rootPath, as: UTF8.self)
        time = snapshot.time
        label = snapshot.label
        bytes = snapshot.totals.bytes
        storedBytes = snapshot.storedBytes
    }
}

extension SnapshotSelector {
    /// The state that `memento` stands for, whatever is saved or labelled meanwhile.
    public init(_ memento: Memento) { self.init(id: memento.id) }
}
