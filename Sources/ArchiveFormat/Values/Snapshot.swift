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
    /// Why it was captured.
    public var cause: Cause
    /// The name that the user gave to the snapshot.
    public var label: String?
    /// The root's latest snapshot when this one was made.
    public var parent: SnapshotID?
    /// The root node of the tree.
    public var tree: ChunkID
    /// How much it holds.
    public var totals: Totals
    /// How many paths differ from its parent.
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
    /// A hash of the directory's identity, which stays the same when the directory is moved; nil if it is unknown.
    public var directory: ChunkID?

    /// The most changed paths a snapshot records.
    package static let changedPathsLimit = 32
    /// The most problems a snapshot records.
    package static let problemsLimit = 64
    /// The most names of owners, and of groups.
    package static let namesLimit = 1 << 20
    /// The greatest sequence number, which has 63 bits.
    package static let sequenceLimit = UInt64(1 << 62) - 1

    /// The end of the block of 2^32 sequences that holds `sequence`.
    ///
    /// A root that takes the path of a moved one, or is joined to an older one, continues after it. So no forgotten
    /// snapshot of the older root has a later sequence.
    package static func sequenceEnd(after sequence: UInt64) -> UInt64 {
        min(sequence | 0xffff_ffff, sequenceLimit)
    }

    /// A snapshot of a root.
    package init(
        time: Timestamp, rootPath: [UInt8], host: String, cause: Cause, label: String? = nil,
        parent: SnapshotID? = nil, tree: ChunkID, totals: Totals, changes: ChangeCounts,
        changedPaths: [ChangedPath] = [], problems: [Problem] = [], storedBytes: UInt64,
        ownerNames: [UInt32: String] = [:], groupNames: [UInt32: String] = [:],
        exclusions: ExclusionRules = ExclusionRules(), sequence: UInt64 = 1, machine: MachineID = .unknown,
        isAside: Bool = false, directory: ChunkID? = nil
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
        self.directory = directory
    }
}
