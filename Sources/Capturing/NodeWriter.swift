// Stores a new tree's nodes: several in one block, compressed against the nodes that they replace.

package import ArchiveFormat
package import ArchiveStorage
internal import SnapshotTree

/// Receives nodes from a tree editor and stores those that the archive does not have.
package final class NodeWriter: NodeSink {
    private let store: ArchiveStore
    private let commit: CommitWriter
    private let level: Int
    private var nodes: [RawChunk] = []
    private var bases: [BaseChunk] = []
    private var bytes = 0

    package init(_ store: ArchiveStore, commit: CommitWriter, level: Int) {
        self.store = store
        self.commit = commit
        self.level = level
    }

    package func store(_ node: Node, predecessor: ChunkID?) throws(StorageError) -> ChunkID {
        let chunk = RawChunk(kind: .node, bytes: node.encoded())
        // The next capture reads the nodes of this one.
        guard try commit.claim(chunk.id, locally: true) else { return chunk.id }
        let base = try predecessor.flatMap { id throws(StorageError) in
            bases.contains { $0.id == id } ? nil : try store.base(id)
        }
        // A block is one deeper than its deepest base. If bases of different depths shared a block, chains would soon
        // reach their limit.
        let isFull =
            bytes + chunk.bytes.count > BlockEncoder.packedBytes
            || bases.count == BlockHeader.baseCountLimit
            || base?.depth != bases.first?.depth
        if isFull { try flush() }
        nodes.append(chunk)
        bytes += chunk.bytes.count
        if let base { bases.append(base) }
        return chunk.id
    }

    /// Writes the collected nodes.
    package func flush() throws(StorageError) {
        guard !nodes.isEmpty else { return }
        try commit.append(store.encode(nodes, bases: bases, level: level))
        nodes.removeAll(keepingCapacity: true)
        bases.removeAll(keepingCapacity: true)
        bytes = 0
    }
}
