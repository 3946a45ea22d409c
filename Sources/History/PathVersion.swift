// A version of a file or directory: a snapshot in which it changed.

public import ArchiveFormat
public import ArchiveStorage
internal import Archives
public import FileIO

/// What one snapshot changed at one path.
public struct PathVersion: Sendable, Hashable {
    /// What became of the path.
    public enum Change: String, Sendable {
        /// It is new.
        case added
        /// Its content, kind or target is another.
        case modified
        /// Only permissions, owner, time or attributes are others.
        case metadata
        /// It is gone.
        case removed
        /// It has this name since then; `otherPath` is the name before.
        case renamed
        /// It has another name since then: `otherPath`.
        case renamedAway
    }

    /// The first snapshot with this version.
    public let snapshot: ListedSnapshot
    public let path: RelativePath
    public let change: Change
    /// What is there now, or was removed.
    public let kind: FileKind
    /// Its size in bytes.
    public let size: UInt64
    /// The other name of a rename.
    public let otherPath: RelativePath?

    /// Whether the snapshot holds the path.
    public var isPresent: Bool { change != .removed && change != .renamedAway }

    /// What a snapshot holds, where damage hides since when.
    package init(asIn snapshot: ListedSnapshot, _ entry: Entry) {
        self.init(
            snapshot, PathChange(path: entry.path, kind: .modified, object: entry.kind, size: entry.size))
    }

    init(_ snapshot: ListedSnapshot, _ change: PathChange) {
        self.snapshot = snapshot
        path = change.path
        kind = change.object
        size = change.size
        otherPath = change.other
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
    public let snapshot: ListedSnapshot
    /// The directory's name then.
    public let path: RelativePath
    public let counts: ChangeCounts
    /// Whether this is the first snapshot of the root, which all others are changes of.
    public let isFirst: Bool
}

/// Which versions are wanted.
public struct HistoryQuery: Sendable {
    /// Of snapshots made at this instant or after.
    public var since: Timestamp?
    /// Of snapshots made at this instant or before.
    public var until: Timestamp?
    /// The most versions to give.
    public var limit: Int?
    /// Whether what had another name before is followed to that name.
    public var followsRenames: Bool
    /// Only up to this snapshot.
    public var through: ListedSnapshot?

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

    /// Before which place versions are wanted.
    var end: HistoryPlace {
        guard let through, case let place = HistoryPlace(through), place.seconds < .max else { return .end }
        return HistoryPlace(sequence: place.sequence, seconds: place.seconds + 1)
    }

    /// Whether a snapshot is of the time that is asked for.
    package func accepts(_ snapshot: ListedSnapshot) -> Bool {
        !(since.map { snapshot.time < $0 } ?? false) && !(until.map { snapshot.time > $0 } ?? false)
    }
}
