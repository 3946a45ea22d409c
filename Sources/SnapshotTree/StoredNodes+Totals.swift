// The totals of a stored tree, where what is recorded of them cannot be true.

package import ArchiveFormat
internal import ArchiveStorage
internal import FileIO

extension StoredNodes {
    /// The totals of `tree`: `recorded` where it agrees with the tree's own sums, else a new count.
    package func totals(of tree: ChunkID, recorded: Totals) throws -> Totals {
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

extension Totals {
    /// All entries together.
    package var entries: UInt64 {
        [directories, others].reduce(files) { FormatLimits.sum($0, $1, FormatLimits.entries) }
    }
}
