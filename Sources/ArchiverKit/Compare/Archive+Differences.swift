// Comparing snapshots with each other and with a directory.

internal import ArchiveFormat
public import ArchiveStorage
public import FileIO
internal import FileWatching
internal import SnapshotTree
public import SystemPackage

extension Archive {
    /// Calls `body` with what differs between two snapshots, in walk order, until it returns false.
    ///
    /// Parts that both share are not read, so the cost is that of the differences.
    ///
    /// - Parameter path: where to compare: there and below.
    public func differences(
        from left: SnapshotRecord, to right: SnapshotRecord, at path: RelativePath = .root,
        _ body: (Difference) -> Bool
    ) throws(ArchiverError) {
        try facing {
            var diff = try TreeDiff(left: left.tree, right: right.tree, in: nodes, scope: path)
            while let found = try diff.next(), let difference = Difference(left: found.left, right: found.right) {
                guard body(difference) else { return }
            }
        }
    }

    /// Calls `body` with what differs between a snapshot and a directory as it is now, in walk order, until it returns
    /// false.
    ///
    /// Files are read only where their inodes say that they may have changed. The right entries name their chunks, but
    /// nothing is stored: read such a file from the directory.
    ///
    /// - Parameter path: where to compare: there and below.
    public func differences(
        from left: SnapshotRecord, toDirectory directory: FilePath, at path: RelativePath = .root,
        _ body: (Difference) -> Bool
    ) throws(ArchiverError) {
        try facing {
            let root = try RootDirectory.open(directory)
            do {
                try scanDifferences(of: root, from: left.tree, at: path) { difference, _ in
                    guard body(difference) else { throw Stop() }
                }
            } catch is Stop {}
        }
    }

    /// Thrown to end a scan early.
    private struct Stop: Error {}

    /// Calls `body` with what differs between a tree and a root as it is now, and what could not be read.
    func scanDifferences(
        of root: RootDirectory, from tree: ChunkID, at path: RelativePath,
        _ body: (Difference, Problem?) throws -> Void
    ) throws {
        let scan = TreeScan(store: store, nodes: nodes, commit: nil, level: 1, progress: nil)
        try scan.run(root, base: tree, ranges: [.subtree(path)]) { change in
            guard change.isDifference, let difference = Difference(left: change.old, right: change.new) else { return }
            try body(difference, change.problem)
        }
    }
}
