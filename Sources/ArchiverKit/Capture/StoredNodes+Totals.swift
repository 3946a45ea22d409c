// The totals of a stored tree, where what is recorded of them cannot be true.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import SnapshotTree

extension StoredNodes {
    /// The totals of `tree`: `recorded` where it agrees with the tree's own sums, else a new count.
    func totals(of tree: ChunkID, recorded: Totals) throws -> Totals {
        let root = try node(tree, at: nil)
        if recorded.entries == root.entryCount, recorded.bytes == root.byteCount { return recorded }
        var totals = Totals(bytes: root.byteCount)
        try Tree(tree, in: self).forEach { entry throws(StorageError) in
            switch entry.kind {
            case .file: totals.files += 1
            case .directory: totals.directories += 1
            default: totals.others += 1
            }
            return true
        }
        return totals
    }
}
