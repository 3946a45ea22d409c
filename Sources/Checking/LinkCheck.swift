// Checking hard links: do all names of a file say the same of it?

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import SnapshotTree

/// Compares the names of files that have several.
///
/// Names that were read at different times may differ: the file changed while the tree was captured. Where the times are
/// equal, so is the rest. Of an entry without a signature nobody knows the time: a time of modification can be set.
struct LinkCheck {
    private let nodes: StoredNodes
    /// What was found in leaves that were looked at together, as most snapshots share them.
    private var known = RecentValues<Int, TreeFault?>(capacity: 1 << 12)

    init(_ nodes: StoredNodes) {
        self.nodes = nodes
    }

    /// What is wrong with the names in `leaves`; nil where they agree.
    mutating func fault(in leaves: [ChunkID]) throws(StorageError) -> TreeFault? {
        if leaves.isEmpty { return nil }
        var hasher = Hasher()
        hasher.combine(leaves)
        let key = hasher.finalize()
        if let known = known[key] { return known }
        let found = try compare(leaves)
        known.insert(found, for: key)
        return found
    }

    private func compare(_ leaves: [ChunkID]) throws(StorageError) -> TreeFault? {
        // Hashes of both: trees may have millions of names, and SipHash of 64 bits tells them apart.
        var contents: [Int: Int] = [:]
        for leaf in leaves {
            guard case .leaf(let entries) = try nodes.node(leaf, level: 0) else { continue }
            // What kept changing while it was read may have been read differently under each name.
            for entry in entries where !entry.isUnstable {
                guard let group = entry.linkGroup, let signature = entry.signature else { continue }
                var hasher = Hasher()
                hasher.combine(entry.kind)
                hasher.combine(entry.content)
                hasher.combine(entry.device)
                let content = hasher.finalize()
                hasher = Hasher()
                hasher.combine(group)
                hasher.combine(entry.modified)
                hasher.combine(signature.changed)
                let state = hasher.finalize()
                guard contents.updateValue(content, forKey: state) ?? content == content else {
                    return TreeFault(entry.path, "\(entry.path) is another name of a file that holds something else")
                }
            }
        }
        return nil
    }
}
