// What a snapshot changed at one path, as the index of paths stores it.

package import FileIO

/// How a path differs between a snapshot and the one before it.
package struct PathChange: Sendable, Hashable {
    /// What happened to the path.
    ///
    /// The raw values are stored in the catalogue.
    package enum Kind: Int64, Sendable {
        /// The object is new or was renamed to this path.
        case added = 1
        /// Its content, kind or target changed.
        case modified = 2
        /// It was removed or renamed to another path.
        case removed = 3
        /// Only its metadata changed: permissions, owner, time, attributes.
        case metadata = 4
    }

    package var path: RelativePath
    package var kind: Kind
    /// The object that is there now or was removed.
    package var object: FileKind
    /// That object's size in bytes.
    package var size: UInt64
    /// The other name of a rename: the old one of an added path, the new one of a removed path.
    package var other: RelativePath?
    /// Whether the content changed with the rename.
    package var isEdited: Bool

    package init(
        path: RelativePath, kind: Kind, object: FileKind, size: UInt64 = 0, other: RelativePath? = nil,
        isEdited: Bool = false
    ) {
        self.path = path
        self.kind = kind
        self.object = object
        self.size = size
        self.other = other
        self.isEdited = isEdited
    }
}

/// The position of a snapshot in the history of its root.
///
/// Changes are looked up by sequence and second. Two snapshots of one root share both only if copies of an archive were
/// merged; then they share one position.
package struct HistoryPlace: Sendable, Hashable, Comparable {
    package let sequence: Int64
    package let seconds: Int64

    package init(sequence: Int64, seconds: Int64) {
        self.sequence = sequence
        self.seconds = seconds
    }

    package init(_ record: ListedSnapshot) {
        self.init(sequence: Int64(clamping: record.sequence), seconds: record.time.seconds)
    }

    /// After every snapshot.
    package static let end = HistoryPlace(sequence: .max, seconds: .max)
    /// Before every snapshot.
    package static let start = HistoryPlace(sequence: -1, seconds: .min)

    package static func < (left: HistoryPlace, right: HistoryPlace) -> Bool {
        (left.sequence, left.seconds) < (right.sequence, right.seconds)
    }
}

/// A change and the position of the snapshot that made it.
package struct PlacedChange: Sendable, Hashable {
    package let place: HistoryPlace
    package let change: PathChange

    package init(place: HistoryPlace, change: PathChange) {
        self.place = place
        self.change = change
    }
}
