// A version of a file or directory: a snapshot in which it changed.

public import ArchiveFormat
public import ArchiveStorage
internal import Archives
public import FileIO

/// What one snapshot changed at one path.
public struct PathVersion: Sendable, Hashable {
    /// What happened to the path.
    public enum Change: String, Sendable {
        /// It was added.
        case added
        /// Its content, kind or target changed.
        case modified
        /// Only its permissions, owner, time or attributes changed.
        case metadata
        /// It was removed.
        case removed
        /// It was renamed from `otherPath`.
        case renamed
        /// It was renamed to `otherPath`.
        case renamedAway
    }

    /// The first snapshot with this version.
    public let snapshot: ListedSnapshot
    /// The path that had this version: an earlier name if the file was renamed since.
    public let path: RelativePath
    /// What made the version.
    public let change: Change
    /// The kind of the entry, or of the one that was removed.
    public let kind: FileKind
    /// Its size in bytes.
    public let size: UInt64
    /// The other name of a rename.
    public let otherPath: RelativePath?
    /// Whether the content changed with the rename.
    public let isEdited: Bool

    /// Whether the snapshot holds the path.
    public var isPresent: Bool { change != .removed && change != .renamedAway }

    /// The version in a snapshot, if damage hides which snapshot introduced it.
    package init(asIn snapshot: ListedSnapshot, _ entry: Entry) {
        self.init(
            snapshot, PathChange(path: entry.path, kind: .modified, object: entry.kind, size: entry.size))
    }

    /// The version that replaces the one before `added`, which an exclusion had hidden.
    init(_ snapshot: ListedSnapshot, modified added: PathVersion) {
        self.init(snapshot, PathChange(path: added.path, kind: .modified, object: added.kind, size: added.size))
    }

    init(_ snapshot: ListedSnapshot, _ change: PathChange) {
        self.snapshot = snapshot
        path = change.path
        kind = change.object
        size = change.size
        otherPath = change.other
        isEdited = change.isEdited
        self.change =
            switch change.kind {
            case .added: change.other == nil ? .added : .renamed
            case .modified: .modified
            case .metadata: .metadata
            case .removed: change.other == nil ? .removed : .renamedAway
            }
    }
}

/// How much one snapshot changed in a directory.
public struct DirectoryVersion: Sendable, Hashable {
    /// The snapshot with this version of the directory.
    public let snapshot: ListedSnapshot
    /// The directory's path at that time.
    public let path: RelativePath
    /// How many entries below the directory changed.
    public let counts: ChangeCounts
    /// Whether this is the first snapshot of the root.
    public let isFirst: Bool
}

/// Which versions to return.
public struct HistoryQuery: Sendable {
    /// Only those of snapshots made at this instant or later.
    public var since: Timestamp?
    /// Only those of snapshots made at this instant or earlier.
    public var until: Timestamp?
    /// The most versions to return.
    public var limit: Int?
    /// Whether to follow renames to the earlier names.
    public var followsRenames: Bool
    /// Only those up to this snapshot.
    public var through: ListedSnapshot?

    /// A query; what is nil is not restricted.
    public init(
        since: Timestamp? = nil, until: Timestamp? = nil, limit: Int? = nil, followsRenames: Bool = true,
        through: ListedSnapshot? = nil
    ) {
        self.since = since
        self.until = until
        self.through = through
        self.limit = limit
        self.followsRenames = followsRenames
    }

    /// The place before which versions are wanted.
    var end: HistoryPlace {
        guard let through, case let place = HistoryPlace(through), place.seconds < .max else { return .end }
        return HistoryPlace(sequence: place.sequence, seconds: place.seconds + 1)
    }

    /// Whether a snapshot is within the times of the query.
    package func accepts(_ snapshot: ListedSnapshot) -> Bool {
        !(since.map { snapshot.time < $0 } ?? false) && !(until.map { snapshot.time > $0 } ?? false)
    }
}
