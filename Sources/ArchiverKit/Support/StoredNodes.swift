// The nodes of an archive's trees, decoded; the recent ones are kept.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Locking
internal import SnapshotTree

/// Reads nodes from an archive; safe to use from several threads.
final class StoredNodes: NodeSource, Sendable {
    private let store: ArchiveStore
    private let recent = Locked(ClockCache<ChunkID, Node>(capacity: StoredNodes.capacity))

    /// Nodes kept, of some 64 entries each.
    private static let capacity = 512

    init(_ store: ArchiveStore) {
        self.store = store
    }

    func node(_ id: ChunkID, level: Int?) throws(StorageError) -> Node {
        let node: Node
        if let known = recent.withLock({ $0.value(for: id) }) { node = known } else { node = try read(id) }
        if let level, node.level != level {
            throw try store.undecodable(id, .malformed("a node is of level \(node.level) instead of \(level)"))
        }
        return node
    }

    private func read(_ id: ChunkID) throws(StorageError) -> Node {
        let bytes = try store.read(id)
        let node: Node
        do { node = try Node(decoding: bytes) } catch { throw try store.undecodable(id, error) }
        // What goes is freed after the lock.
        _ = recent.withLock { $0.insert(node, for: id) }
        return node
    }
}
