// What a restore brings back: a part of a snapshot, or that nothing was there.

package import ArchiveFormat
package import ArchiveStorage
package import FileIO
package import SnapshotTree

/// The state that is wanted, of one part of a root.
package struct RestoreSource {
    package let nodes: StoredNodes
    /// nil: the root did not exist, so there was nothing in it.
    package let snapshot: ListedSnapshot?
    /// The part of the root that is wanted so.
    package var path: RelativePath

    private let tree: Tree<StoredNodes>?

    package var store: ArchiveStore { nodes.store }

    package init(_ snapshot: ListedSnapshot?, at path: RelativePath, in nodes: StoredNodes) {
        self.nodes = nodes
        self.snapshot = snapshot
        self.path = path
        tree = snapshot.map { Tree($0.tree, in: nodes) }
    }

    /// What is wanted at the path itself; nil for nothing.
    package func entry() throws -> Entry? { try entry(at: path) }

    /// What is wanted anywhere in the root.
    package func entry(at path: RelativePath) throws -> Entry? { try tree?.entry(at: path) }

    /// Calls `body` with all that is wanted at the path and below it, in walk order.
    package func forEachEntry(_ body: (Entry) throws -> Void) throws {
        try tree?.forEachEntry(at: path, body)
    }

    /// Calls `body` with all entries of the snapshot, whatever part of it is wanted.
    func forEachEntryAnywhere(_ body: (Entry) throws -> Void) throws {
        try tree?.forEachEntry(at: .root, body)
    }

    func owners() throws -> OwnerMapping {
        OwnerMapping(try snapshot.map { try store.snapshot($0.id) })
    }
}

extension Tree<StoredNodes> {
    /// Calls `body` with the entry at `path` and all below it, in walk order.
    package func forEachEntry(at path: RelativePath, _ body: (Entry) throws -> Void) throws {
        var cursor = try TreeCursor(root, in: source)
        try cursor.seek(to: path)
        while let entry = try cursor.next(), path.contains(entry.path) { try body(entry) }
    }
}
