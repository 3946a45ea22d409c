// Checks hard links: that all names of a file have the same state.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import SnapshotTree

/// Compares the names of each file that has several.
///
/// Names that were read at different times may differ, as the file changed during the capture. If their times are
/// equal, everything else must be. An entry without a signature is skipped: its change time is unknown, and a
/// modification time can be set.
struct LinkCheck {
    private let nodes: StoredNodes
    /// The results for sets of leaves, as most snapshots share them.
    private var known = RecentValues<Int, TreeFault?>(capacity: 1 << 12)

    init(_ nodes: StoredNodes) {
        self.nodes = nodes
    }

    /// The first fault in the names in `leaves`; nil if they agree.
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
        // Hashes save memory: a tree may have millions of names, and 64 bits of SipHash distinguish them.
        var contents: [Int: Int] = [:]
        for leaf in leaves {
            guard case .leaf(let entries) = try nodes.node(leaf, level: 0) else { continue }
            // A file that kept changing may have been read differently under each name.
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
                    return TreeFault(entry.path, "\(entry.path) and another name of the same file differ")
                }
            }
        }
        return nil
    }
}
