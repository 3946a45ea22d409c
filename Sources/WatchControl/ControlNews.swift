// The lines sent to a subscriber to a root's snapshots.

internal import ArchiveFormat
package import ArchiveStorage
internal import FileIO

/// A line sent to a subscriber.
package struct ControlNews: Codable, Sendable {
    package enum Event: String, Codable, Sendable {
        /// The subscription has started; `id` is the last snapshot that is known already.
        case subscribed
        /// A snapshot is durable.
        case snapshot
        /// Watching has ended.
        case stopped
    }

    package let event: Event
    package var id: String?
    package var time: String?
    package var sequence: UInt64?
    package var cause: String?
    package var label: String?
    package var added: UInt64?
    package var modified: UInt64?
    package var removed: UInt64?

    package init(_ event: Event) { self.event = event }

    package init(_ snapshot: ListedSnapshot) {
        self.init(.snapshot)
        id = snapshot.id.hex
        time = snapshot.time.rfc3339
        sequence = snapshot.sequence
        cause = snapshot.cause.rawValue
        label = snapshot.label
        added = snapshot.changes.added
        modified = snapshot.changes.modified
        removed = snapshot.changes.removed
    }
}
