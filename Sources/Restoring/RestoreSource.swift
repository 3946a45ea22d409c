// The source of a restore: a part of a snapshot, or an empty state.

package import ArchiveFormat
package import ArchiveStorage
package import FileIO
package import SnapshotTree

/// The wanted state of one part of a root.
package struct RestoreSource {
    package let nodes: StoredNodes
    /// The snapshot; nil if the root did not exist, so that its state is empty.
    package let snapshot: ListedSnapshot?
    /// The part of the root to restore.
    package var path: RelativePath

    private let tree: Tree<StoredNodes>?

    package var store: ArchiveStore { nodes.store }

    /// - Throws: `StorageError` with the code `damaged` if the snapshot's root is not a directory, as in a forged archive.
    package init(_ snapshot: ListedSnapshot?, at path: RelativePath, in nodes: StoredNodes) throws(StorageError) {
        self.nodes = nodes
        self.snapshot = snapshot
        self.path = path
        tree = snapshot.map { Tree($0.tree, in: nodes) }
        // A damaged tree is restored as far as it can be read.
        guard let snapshot, let root = try? tree?.entry(at: .root), root.kind != .directory else { return }
        throw StorageError(
            .damaged, nodes.store.layout.directory,
            "snapshot \(snapshot.id.short) cannot be restored: its root is not a directory",
            remedy: Advice.useGood.text)
    }

    /// Returns the wanted entry at the part's own path; nil if there is none.
    package func entry() throws -> Entry? { try entry(at: path) }

    /// Returns the wanted entry at any path of the root; nil if there is none.
    package func entry(at path: RelativePath) throws -> Entry? { try tree?.entry(at: path) }

    /// Calls `body` with all wanted entries of the part, in walk order.
    package func forEachEntry(_ body: (Entry) throws -> Void) throws {
        try tree?.forEachEntry(at: path, body)
    }

    /// Calls `body` with all entries of the snapshot, also outside of the part.
    func forEachEntryAnywhere(_ body: (Entry) throws -> Void) throws {
        try tree?.forEachEntry(at: .root, body)
    }

    /// `sources` in walk order, without parts of others.
    ///
    /// A path below another one stays if its wanted state is in another snapshot.
    static func distinct(_ sources: [RestoreSource]) -> [RestoreSource] {
        var distinct: [RestoreSource] = []
        // In walk order a directory comes before everything in it.
        var above: [RestoreSource] = []
        for source in sources.sorted(by: { $0.path < $1.path }) {
            while let last = above.last, !last.path.contains(source.path) { above.removeLast() }
            if above.contains(where: { $0.snapshot?.id == source.snapshot?.id }) { continue }
            distinct.append(source)
            above.append(source)
        }
        return distinct
    }

    func owners() throws -> OwnerMapping {
        OwnerMapping(try snapshot.map { try store.snapshot($0.id) })
    }
}

extension Tree<StoredNodes> {
    /// Calls `body` with the entry at `path` and all entries below it, in walk order.
    package func forEachEntry(at path: RelativePath, _ body: (Entry) throws -> Void) throws {
        var cursor = try TreeCursor(root, in: source)
        try cursor.seek(to: path)
        while let entry = try cursor.next(), path.contains(entry.path) { try body(entry) }
    }
}
