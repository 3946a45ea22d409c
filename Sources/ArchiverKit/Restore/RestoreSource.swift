// What a restore brings back: a part of a snapshot, or that nothing was there.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import SnapshotTree

/// The state that is wanted, of one part of a root.
struct RestoreSource {
    let archive: Archive
    /// nil: the root did not exist, so there was nothing in it.
    let snapshot: ListedSnapshot?
    /// The part of the root that is wanted so.
    var path: RelativePath

    private let tree: Tree<StoredNodes>?

    init(_ archive: Archive, _ snapshot: ListedSnapshot?, at path: RelativePath) {
        self.archive = archive
        self.snapshot = snapshot
        self.path = path
        tree = snapshot.map { Tree($0.tree, in: archive.nodes) }
    }

    /// What is wanted at the path itself; nil for nothing.
    func entry() throws -> Entry? { try entry(at: path) }

    /// What is wanted anywhere in the root.
    func entry(at path: RelativePath) throws -> Entry? { try tree?.entry(at: path) }

    /// Calls `body` with all that is wanted at the path and below it, in walk order.
    func forEachEntry(_ body: (Entry) throws -> Void) throws {
        try tree?.forEachEntry(at: path, body)
    }

    /// Calls `body` with all entries of the snapshot, whatever part of it is wanted.
    func forEachEntryAnywhere(_ body: (Entry) throws -> Void) throws {
        try tree?.forEachEntry(at: .root, body)
    }

    func owners() throws -> OwnerMapping {
        OwnerMapping(try snapshot.map { try archive.store.snapshot($0.id) })
    }
}

extension Tree<StoredNodes> {
    /// Calls `body` with the entry at `path` and all below it, in walk order.
    func forEachEntry(at path: RelativePath, _ body: (Entry) throws -> Void) throws {
        var cursor = try TreeCursor(root, in: source)
        try cursor.seek(to: path)
        while let entry = try cursor.next(), path.contains(entry.path) { try body(entry) }
    }
}
