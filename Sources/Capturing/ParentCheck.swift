// Guards the archive against trees that hold something without its directory: nothing could restore them.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import SnapshotTree

/// Checks, change by change, that the tree they lead to holds the directory of everything that is put into it, and
/// nothing below what is no directory any more.
struct ParentCheck {
    private let base: ChunkID?
    private let nodes: StoredNodes
    private var directories = DirectoryStack()
    /// A directory that the base has and the new tree has not, and where the base goes on in it.
    private var gone: (directory: RelativePath, rest: TreeCursor<StoredNodes>)?

    /// - Parameter base: the tree that the changes start from; nil for the tree of nothing.
    init(base: ChunkID?, nodes: StoredNodes) {
        self.base = base
        self.nodes = nodes
    }

    /// Takes the next change in walk order.
    ///
    /// - Throws: `StorageError` of the code `damaged`.
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
            // Unchanged, so it is in the base.
            guard let base, try Tree(base, in: nodes).entry(at: parent)?.kind == .directory else { throw orphan(path) }
            directories.open(parent)
        }
        if new.kind == .directory { directories.open(path) }
    }

    /// Checks that nothing stays of the last directory that is gone.
    mutating func finish() throws {
        guard let gone else { return }
        if let left = gone.rest.path, gone.directory.contains(left) { throw orphan(left) }
        self.gone = nil
    }

    /// Whether `path` is what comes next in the directory that is gone.
    private mutating func passes(_ path: RelativePath) throws -> Bool {
        guard let next = try gone?.rest.entry(), next.path == path else { return false }
        gone?.rest.skip()
        return true
    }

    private func orphan(_ path: RelativePath) -> StorageError {
        StorageError(
            .damaged, nodes.directory, "the new state would hold '\(path)' without its directory",
            remedy: "run 'archiver check'; a capture of everything mends the state from the directory itself")
    }
}
