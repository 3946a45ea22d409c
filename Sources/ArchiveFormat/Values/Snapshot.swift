// A snapshot: the immutable state of one root at one instant (the memento of the design pattern).

public import Exclusions
public import FileIO

/// The state of one root at one instant, stored as a chunk; the chunk's id is the snapshot's id.
public struct Snapshot: Hashable, Sendable {
    /// When the state was captured.
    public var time: Timestamp
    /// The root's absolute path, as bytes.
    public var rootPath: [UInt8]
    /// The name of the machine that captured it.
    public var host: String
    public var cause: Cause
    /// The name that the user gave to the snapshot.
    public var label: String?
    /// The root's latest snapshot when this one was made.
    public var parent: SnapshotID?
    /// The root node of the tree.
    public var tree: ChunkID
    public var totals: Totals
    public var changes: ChangeCounts
    /// The first paths that differ from the parent, at most `changedPathsLimit`, in walk order.
    public var changedPaths: [ChangedPath]
    /// Paths that could not be captured properly, at most `problemsLimit`, in walk order.
    public var problems: [Problem]
    /// Bytes appended to the archive for this snapshot's content and nodes, without its own block.
    public var storedBytes: UInt64
    /// Names of the owners in the tree, by number.
    public var ownerNames: [UInt32: String]
    /// Names of the groups in the tree, by number.
    public var groupNames: [UInt32: String]
    /// The rules by which paths were left out of the tree.
    public var exclusions: ExclusionRules
    /// The snapshot's number in the order of its root's snapshots: its parent's + 1, or 1 without a parent.
    public var sequence: UInt64
    /// The machine that captured it.
    public var machine: MachineID
    /// Whether it was captured with exclusions that differ from the root's own.
    public var isAside: Bool

    /// The most changed paths a snapshot records.
    public static let changedPathsLimit = 32
    /// The most problems a snapshot records.
    public static let problemsLimit = 64
    /// The most names of owners, and of groups.
    package static let namesLimit = 1 << 20
    /// The greatest sequence number, which has 63 bits.
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

/// Counts of a tree's entries, and the sum of its sizes.
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

/// A path that could not be captured properly, and why.
public struct Problem: Hashable, Sendable {
    /// Why the path could not be captured properly.
    ///
    /// Raw values are part of the archive format.
    public enum Reason: UInt8, Sendable, Hashable {
        /// It could not be read; the last known entry was used if there was one.
        case unreadable = 0
        /// It kept changing while it was read.
        case unstable = 1
        /// It is a large file that changes all the time and is captured less often; the last known entry was used.
        case postponed = 2
    }

    public var path: RelativePath
    public var reason: Reason
    /// The system's error message.
    public var detail: String

    public init(path: RelativePath, reason: Reason, detail: String) {
        self.path = path
        self.reason = reason
        self.detail = detail
    }
}
