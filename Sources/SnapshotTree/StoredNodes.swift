// Reads and caches the decoded nodes of an archive's trees, and recounts a tree's totals if the recorded ones are
// wrong.

package import ArchiveFormat
package import ArchiveStorage
internal import FileIO
package import SystemPackage
internal import Threading

/// Reads nodes from an archive; safe to use from several threads.
package final class StoredNodes: NodeSource, Sendable {
    /// The store that holds the nodes.
    package let store: ArchiveStore
    /// Nodes to treat as lost even if a cache still has them.
    private let losses: Losses?
    private let recent = Locked(ClockCache<ChunkID, Node>(capacity: StoredNodes.capacity))

    /// Bytes of cached nodes: about 250 nodes of 64 entries each.
    private static let capacity = 8 << 20

    package convenience init(_ store: ArchiveStore) { self.init(store, without: nil) }

    package init(_ store: ArchiveStore, without losses: Losses?) {
        self.store = store
        self.losses = losses
    }

    /// The rule that decides where nodes of this archive end.
    package var shape: TreeShape { store.shape }

    /// The archive's directory.
    package var directory: FilePath { store.layout.directory }

    package func node(_ id: ChunkID, at place: NodePlace?) throws(StorageError) -> Node {
        let node = try node(id)
        if let problem = place?.problem(of: node) { throw try store.undecodable(id, .malformed(problem)) }
        return node
    }

    private func node(_ id: ChunkID) throws(StorageError) -> Node {
        if let known = recent.withLock({ $0.value(for: id) }) { return known }
        return try read(id)
    }

    /// - Parameter level: the level that the node must have; nil for any level.
    package func node(_ id: ChunkID, level: Int?) throws(StorageError) -> Node {
        let node = try node(id)
        if let level, node.level != level {
            throw try store.undecodable(id, .malformed("a node has level \(node.level) instead of \(level)"))
        }
        return node
    }

    /// Limits the cache of nodes.
    package func limitCache(toBytes capacity: Int) { recent.withLock { $0.capacity = capacity } }

    /// Releases the nodes that were not used since the last call.
    package func removeUnused() {
        let evicted = recent.withLock { $0.evictUnused() }
        // Freed here, outside the lock.
        _ = consume evicted
    }

    private func read(_ id: ChunkID) throws(StorageError) -> Node {
        if losses?.contains(id) ?? false { throw StorageError.missing(id, in: directory) }
        let bytes = try store.read(id)
        let node: Node
        do { node = try Node(decoding: bytes) } catch { throw try store.undecodable(id, error) }
        // Evicted nodes are freed after the lock is released.
        _ = recent.withLock { $0.insert(node, for: id, cost: node.memory) }
        return node
    }
}

extension StoredNodes {
    /// Returns the totals of `tree`: `recorded` if it agrees with the tree's own sums, otherwise a new count.
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
    /// The number of all entries.
    package var entries: UInt64 {
        [directories, others].reduce(files) { FormatLimits.sum($0, $1, FormatLimits.entries) }
    }
}

extension Node {
    /// The approximate size of the node in memory, in bytes.
    fileprivate var memory: Int {
        switch self {
        // By index: an iterator would copy each entry.
        case .leaf(let entries):
            entries.indices.reduce(0) { $0 + 256 + entries[$1].weight + 96 * entries[$1].attributes.count }
        case .inner(_, let children): children.reduce(0) { $0 + 128 + $1.weight }
        }
    }
}
