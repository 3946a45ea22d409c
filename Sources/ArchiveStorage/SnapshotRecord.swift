// What lists show of a snapshot, as the catalogue keeps it.

public import ArchiveFormat
public import FileIO

/// A snapshot as the catalogue knows it: enough to list and to find it.
public struct SnapshotRecord: Sendable, Hashable {
    public let id: SnapshotID
    public let time: Timestamp
    /// The root's absolute path, as bytes.
    public let rootPath: [UInt8]
    public let host: String
    public let cause: Cause
    public let label: String?
    public let parent: SnapshotID?
    /// The root node of the snapshot's tree.
    public let tree: ChunkID
    public let totals: Totals
    public let changes: ChangeCounts
    /// Paths that could not be captured as they are.
    public let problems: Int
    /// Bytes the archive grew by for this snapshot.
    public let storedBytes: UInt64

    /// The record of `snapshot`.
    ///
    /// - Parameter ownBytes: length of the block that holds the snapshot itself.
    package init(_ snapshot: Snapshot, id: SnapshotID, ownBytes: Int) {
        self.init(
            id: id, time: snapshot.time, rootPath: snapshot.rootPath, host: snapshot.host, cause: snapshot.cause,
            label: snapshot.label, parent: snapshot.parent, tree: snapshot.tree, totals: snapshot.totals,
            changes: snapshot.changes, problems: snapshot.problems.count,
            storedBytes: snapshot.storedBytes + UInt64(ownBytes))
    }

    package init(
        id: SnapshotID, time: Timestamp, rootPath: [UInt8], host: String, cause: Cause, label: String?,
        parent: SnapshotID?, tree: ChunkID, totals: Totals, changes: ChangeCounts, problems: Int, storedBytes: UInt64
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
    }
}
