// The memento: the immutable state of one root at one instant.

public import Exclusions
public import FileIO

/// The state of one root at one instant, stored as a chunk whose id is the snapshot's.
public struct Snapshot: Hashable, Sendable {
    /// When the state was captured.
    public var time: Timestamp
    /// The root's absolute path, as bytes.
    public var rootPath: [UInt8]
    /// The name of the machine that captured it.
    public var host: String
    public var cause: Cause
    /// The user's name for the snapshot.
    public var label: String?
    /// The snapshot of the same root that was the latest when this was made.
    public var parent: SnapshotID?
    /// The root node of the tree.
    public var tree: ChunkID
    public var totals: Totals
    public var changes: ChangeCounts
    /// The first paths that differ from the parent, at most `changedPathsLimit`, in walk order.
    public var changedPaths: [ChangedPath]
    /// Paths that could not be captured as they are, at most `problemsLimit`, in walk order.
    public var problems: [Problem]
    /// Bytes appended to the archive for this snapshot's content and nodes, without its own block.
    public var storedBytes: UInt64
    /// Names of the owners that occur, by number.
    public var ownerNames: [UInt32: String]
    /// Names of the groups that occur, by number.
    public var groupNames: [UInt32: String]
    /// What was left out of the tree.
    public var exclusions: ExclusionRules
    /// Where the snapshot stands among those of its root: one more than its parent, at least 1.
    public var sequence: UInt64
    /// The machine that captured it.
    public var machine: MachineID
    /// Whether it was captured with other exclusions than those that its root is captured with.
    public var isAside: Bool

    /// The most changed paths a snapshot records.
    public static let changedPathsLimit = 32
    /// The most problems a snapshot records.
    public static let problemsLimit = 64
    /// Names of owners, and of groups.
    package static let namesLimit = 1 << 20
    /// The greatest sequence number: the greatest that fits 63 bits.
    public static let sequenceLimit = UInt64(Int64.max)

    public init(
        time: Timestamp, rootPath: [UInt8], host: String, cause: Cause, label: String? = nil,
        parent: SnapshotID? = nil, tree: ChunkID, totals: Totals, changes: ChangeCounts,
        changedPaths: [ChangedPath] = [], problems: [Problem] = [], storedBytes: UInt64,
        ownerNames: [UInt32: String] = [:], groupNames: [UInt32: String] = [:],
        exclusions: ExclusionRules = ExclusionRules(), sequence: UInt64 = 1, machine: MachineID = .unknown,
        isAside: Bool = false
    ) {
        self.time = time
        self.rootPath = rootPath
        self.host = host
        self.cause = cause
        self.label = label
        self.parent = parent
        self.tree = tree
        self.totals = totals
        self.changes = changes
        self.changedPaths = changedPaths
        self.problems = problems
        self.storedBytes = storedBytes
        self.ownerNames = ownerNames
        self.groupNames = groupNames
        self.exclusions = exclusions
        self.sequence = sequence
        self.machine = machine
        self.isAside = isAside
    }
}

/// What a tree holds.
public struct Totals: Hashable, Sendable {
    public var files: UInt64
    public var directories: UInt64
    /// Symbolic links, FIFOs, sockets and devices.
    public var others: UInt64
    /// Sum of the files' sizes.
    public var bytes: UInt64

    public init(files: UInt64 = 0, directories: UInt64 = 0, others: UInt64 = 0, bytes: UInt64 = 0) {
        self.files = files
        self.directories = directories
        self.others = others
        self.bytes = bytes
    }
}

/// How many paths differ from the parent snapshot.
public struct ChangeCounts: Hashable, Sendable {
    public var added: UInt64
    public var modified: UInt64
    public var removed: UInt64

    public init(added: UInt64 = 0, modified: UInt64 = 0, removed: UInt64 = 0) {
        self.added = added
        self.modified = modified
        self.removed = removed
    }
}

/// A path that differs between two snapshots, and how.
public struct ChangedPath: Hashable, Sendable {
    /// How the path differs.
    ///
    /// Raw values are part of the archive format.
    public enum Change: UInt8, Sendable, Hashable {
        case added = 0
        case modified = 1
        case removed = 2
    }

    public var path: RelativePath
    public var change: Change

    public init(path: RelativePath, change: Change) {
        self.path = path
        self.change = change
    }
}

/// A path that could not be captured as it is, and why.
public struct Problem: Hashable, Sendable {
    /// What was the matter.
    ///
    /// Raw values are part of the archive format.
    public enum Reason: UInt8, Sendable, Hashable {
        /// Could not be read; the last known entry was kept if there was one.
        case unreadable = 0
        /// Kept changing while it was read.
        case unstable = 1
        /// A large file that changes all the time and is captured less often; the last known entry was kept.
        case postponed = 2
    }

    public var path: RelativePath
    public var reason: Reason
    /// The system's words for it.
    public var detail: String

    public init(path: RelativePath, reason: Reason, detail: String) {
        self.path = path
        self.reason = reason
        self.detail = detail
    }
}
