// A snapshot as lists show it.

public import ArchiveFormat
public import FileIO

/// A snapshot as the catalogue lists it.
public struct ListedSnapshot: Sendable, Hashable, Identifiable, Codable {
    /// The id, which depends on everything in the snapshot.
    public let id: SnapshotID
    /// Its number among the snapshots of its root; higher than in its record if its history was joined to an older one.
    public internal(set) var sequence: UInt64
    /// When it was captured.
    public let time: Timestamp
    /// The root's absolute path, as bytes.
    public let rootPath: [UInt8]
    /// The machine that the root is on.
    public let machine: MachineID
    /// The machine's name, for people.
    public let host: String
    /// Why it was captured.
    public let cause: Cause
    /// The label; nil if it has none.
    public let label: String?
    /// The snapshot before it; nil for the first.
    public let parent: SnapshotID?
    /// The root node of the snapshot's tree.
    public let tree: ChunkID
    /// How much it holds.
    public let totals: Totals
    /// How many paths differ from its parent.
    public let changes: ChangeCounts
    /// The number of paths that could not be captured as they are.
    public let problems: Int
    /// Bytes that the archive grew by for this snapshot.
    public let storedBytes: UInt64
    /// Whether it was captured with other exclusions than its root's.
    public let isAside: Bool

    /// The listed form of `snapshot`.
    ///
    /// - Parameter ownBytes: the length of the block that holds the snapshot itself.
    package init(_ snapshot: Snapshot, id: SnapshotID, ownBytes: Int) {
        self.init(
            id: id, time: snapshot.time, rootPath: snapshot.rootPath, host: snapshot.host, cause: snapshot.cause,
            label: snapshot.label, parent: snapshot.parent, tree: snapshot.tree, totals: snapshot.totals,
            changes: snapshot.changes, problems: snapshot.problems.count,
            storedBytes: FormatLimits.sum(snapshot.storedBytes, UInt64(ownBytes), FormatLimits.bytes),
            sequence: snapshot.sequence, machine: snapshot.machine, isAside: snapshot.isAside)
    }

    package init(
        id: SnapshotID, time: Timestamp, rootPath: [UInt8], host: String, cause: Cause, label: String?,
        parent: SnapshotID?, tree: ChunkID, totals: Totals, changes: ChangeCounts, problems: Int, storedBytes: UInt64,
        sequence: UInt64 = 1, machine: MachineID = .unknown, isAside: Bool = false
    ) {
        self.id = id
        self.time = time
        self.rootPath = rootPath
        self.host = host
        self.cause = cause
        self.label = label
        self.parent = parent
        self.tree = tree
        self.totals = totals
        self.changes = changes
        self.problems = problems
        self.storedBytes = storedBytes
        self.sequence = sequence
        self.machine = machine
        self.isAside = isAside
    }
}

extension ListedSnapshot {
    /// The first 8 hex digits of the id, as lists show them.
    public var shortID: String { id.short }
}

extension ListedSnapshot: CustomStringConvertible {
    /// The first digits of the id, the time, the root and the label, for logs.
    public var description: String {
        let root = String(decoding: rootPath, as: UTF8.self)
        return [id.short, "\(time)", root, label.map { "(\($0))" }].compactMap(\.self).joined(separator: " ")
    }
}
