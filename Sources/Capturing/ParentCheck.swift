// Rejects trees that have an entry without its directory: they could not be restored.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import SnapshotTree

/// Checks, change by change, that the new tree has the directory of every new entry, and no entries below a removed
/// directory.
struct ParentCheck {
    private let base: ChunkID?
    private let nodes: StoredNodes
    private var directories = DirectoryStack()
    /// A directory that the base has and the new tree does not, and the base's remaining entries in it.
    private var gone: (directory: RelativePath, rest: TreeCursor<StoredNodes>)?

    /// - Parameter base: the tree that the changes start from; nil for the empty tree.
    init(base: ChunkID?, nodes: StoredNodes) {
        self.base = base
        self.nodes = nodes
    }

    /// Checks the next change in walk order.
    ///
    /// - Throws: `StorageError` with the code `damaged` if an entry would lose its directory.
    mutating func add(_ path: RelativePath, old: Entry?, new: Entry?) throws {
        if let gone, !gone.directory.contains(path) { try finish() }
        if gone != nil {
            guard new == nil, try passes(path) else { throw orphan(path) }
        } else if old?.kind == .directory, new?.kind != .directory, let base {
            var rest = try TreeCursor(base, in: nodes)
            try rest.seek(to: path)
            gone = (path, rest)
            guard try passes(path) else { throw orphan(path) }
        }
        guard let new else { return }
        if !directories.moves(to: path), let parent = path.parent {
            // The parent did not change, so it must be in the base.
            guard let base, try Tree(base, in: nodes).entry(at: parent)?.kind == .directory else { throw orphan(path) }
            directories.open(parent)
        }
        if new.kind == .directory { directories.open(path) }
    }

    /// Checks that no entry remains in the last removed directory.
    mutating func finish() throws {
        guard let gone else { return }
        if let left = gone.rest.path, gone.directory.contains(left) { throw orphan(left) }
        self.gone = nil
    }

    /// Whether `path` is the base's next entry in the removed directory; moves past it.
    private mutating func passes(_ path: RelativePath) throws -> Bool {
        guard let next = try gone?.rest.entry(), next.path == path else { return false }
        gone?.rest.skip()
        return true
    }

    private func orphan(_ path: RelativePath) -> StorageError {
        StorageError(
            .damaged, nodes.directory, "the new state would hold '\(path)' without its directory",
            remedy: Advice.captureEverything.text)
    }
}
