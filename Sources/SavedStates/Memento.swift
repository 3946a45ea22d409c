// A saved state as caretakers list it.

public import ArchiveFormat
package import ArchiveStorage
public import Archives
public import FileIO
public import Foundation

/// Describes a saved state of an originator; the state itself is loaded with it.
public struct Memento: Sendable, Hashable, Identifiable, Codable {
    /// The id of the chunk that holds the state's record.
    public let id: ChunkID
    /// The title of the state; for a directory, its path.
    public let title: String
    /// When the state was saved.
    public let time: Timestamp
    /// The user's name for the state.
    public let label: String?
    /// The size of the state in bytes; for a directory, of all its files.
    public let bytes: UInt64
    /// The bytes that the archive grew by for the state.
    public let storedBytes: UInt64
    /// Its place in the order of its title, which is that of the saves, whatever the clock said.
    package let sequence: UInt64

    /// When the state was saved, as a `Date`, accurate to a microsecond.
    public var date: Date { time.date }

    /// The id's first 8 hex digits, as lists show them.
    public var shortID: String { String(id.hex.prefix(8)) }

    package init(_ state: ListedState) {
        id = state.id.chunk
        title = state.title
        time = state.time
        label = state.label
        bytes = state.bytes
        storedBytes = state.storedBytes
        sequence = state.sequence
    }

    package init(_ snapshot: ListedSnapshot) {
        id = snapshot.id.chunk
        title = String(decoding: snapshot.rootPath, as: UTF8.self)
        time = snapshot.time
        label = snapshot.label
        bytes = snapshot.totals.bytes
        storedBytes = snapshot.storedBytes
        sequence = snapshot.sequence
    }
}

extension Memento: CustomStringConvertible {
    /// The first digits of the id, the time, the title and the label, for logs.
    public var description: String {
        ["\(shortID)", "\(time)", "'\(title)'", label.map { "(\($0))" }].compactMap(\.self).joined(separator: " ")
    }
}

extension SnapshotSelector {
    /// Names the state of `memento`, whatever is saved or labelled later.
    public init(_ memento: Memento) { self.init(id: memento.id) }
}

extension Timestamp {
    /// The time as a `Date`, accurate to a microsecond.
    public var date: Date {
        Date(timeIntervalSince1970: Double(seconds) + Double(nanoseconds) / 1_000_000_000)
    }

    /// The time of `date`; the first or last one that can be stored if `date` is beyond them.
    public init(_ date: Date) {
        let interval = date.timeIntervalSince1970
        let whole = interval.rounded(.down)
        guard let seconds = Int64(exactly: whole) else {
            self.init(seconds: interval < 0 ? .min : .max)
            return
        }
        self.init(seconds: seconds, nanoseconds: min(999_999_999, UInt32((interval - whole) * 1_000_000_000)))
    }
}

extension SnapshotSelector {
    /// Names the newest snapshot or state made at or before `date`.
    public init(_ date: Date) { self.init(time: Timestamp(date)) }
}
