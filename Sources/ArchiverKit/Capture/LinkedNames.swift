// Hard links: a change through one name of a file is a change of all its names, but the kernel tells of that one only.

internal import ArchiveFormat
internal import FileIO
internal import FileWatching
internal import SnapshotTree

/// Collects the hard-linked files among a scan's changes, to find their other names.
struct LinkedNames {
    private var inodes: Set<UInt64> = []
    private var seen: Set<RelativePath> = []

    /// Takes the next change.
    mutating func add(_ change: ScanChange) {
        guard change.old != change.new, let path = change.path else { return }
        let groups = [change.old?.linkGroup, change.new?.linkGroup].compactMap { $0 }
        if groups.isEmpty { return }
        inodes.formUnion(groups)
        seen.insert(path)
    }

    /// Names in `tree` of the files that changed, other than those that the scan itself came upon.
    ///
    /// Goes through the whole tree, which costs no look at the file system; only where hard links changed.
    func others(in tree: ChunkID, _ nodes: StoredNodes) throws -> [PathRange] {
        if inodes.isEmpty { return [] }
        var ranges: [PathRange] = []
        var cursor = try TreeCursor(tree, in: nodes)
        while let entry = try cursor.next() {
            guard entry.kind != .directory, let inode = entry.linkGroup ?? entry.signature?.inode,
                inodes.contains(inode), !seen.contains(entry.path)
            else { continue }
            ranges.append(.entry(entry.path))
        }
        return ranges
    }
}
