// Loops over nodes and trees: encoding, decoding, editing.

internal import ArchiveFormat
internal import FileIO
internal import SnapshotTree

extension CoreLoop {
    private static let entriesPerNode = 64

    static let nodeEncoding = CoreLoop(name: "node-encode", operation: "CBOR, a node of 64 entries encoded") {
        let node = Node.leaf(entries(entriesPerNode))
        return { count in for _ in 0..<count { consume(node.encoded()) } }
    }

    static let nodeDecoding = CoreLoop(name: "node-decode", operation: "CBOR, a node of 64 entries decoded") {
        let bytes = Node.leaf(entries(entriesPerNode)).encoded()
        return { count in for _ in 0..<count { consume(try Node(decoding: bytes)) } }
    }

    static let treeEdit = CoreLoop(name: "tree-edit", operation: "one entry of a tree of 100,000 replaced") {
        let entries = Self.entries(100_000)
        let nodes = MemoryNodes()
        var builder = try TreeEditor(base: nil, source: nodes, sink: nodes)
        for entry in entries { try builder.apply(.put(entry)) }
        let root = try builder.finish()
        nodes.isFrozen = true
        return { count in
            for number in 0..<count {
                var entry = entries[number * 7_919 % entries.count]
                entry.modified = Timestamp(seconds: Int64(number))
                var editor = try TreeEditor(base: root, source: nodes, sink: nodes)
                try editor.apply(.put(entry))
                consume(try editor.finish())
            }
        }
    }

    /// Entries of files, 100 per directory, in walk order, as a capture makes them.
    private static func entries(_ count: Int) -> [Entry] {
        let files = SmallFiles(outer: max(1, count / 10_000), inner: 100)
        return (0..<count).map { index in
            Entry(
                path: RelativePath(unchecked: Array(files.sortedPath(index).utf8)), kind: .file, permissions: 0o644,
                owner: 1000, group: 1000, modified: Timestamp(seconds: 1_790_000_000 + Int64(index)),
                content: .slices([Slice(length: 5_000, chunk: ChunkID(hashing: Array("\(index)".utf8)))]),
                signature: Signature(
                    inode: 1_000_000 + UInt64(index), changed: Timestamp(seconds: 1_790_000_000 + Int64(index))))
        }
    }
}

extension SmallFiles {
    /// A path like `path`, with numbers of equal length, so that the order of indices is walk order.
    fileprivate func sortedPath(_ index: Int) -> String {
        path(index).split(separator: "/").map { $0.contains(".") ? "1\($0)" : "\(1_000 + (Int($0) ?? 0))" }
            .joined(separator: "/")
    }
}

/// A store of nodes in memory.
private final class MemoryNodes: NodeSource, NodeSink {
    struct Missing: Error {
        let id: ChunkID
    }

    private var nodes: [ChunkID: Node] = [:]
    /// Whether new nodes are only encoded and hashed, and not stored.
    var isFrozen = false

    func node(_ id: ChunkID, at place: NodePlace?) throws(Missing) -> Node {
        guard let node = nodes[id] else { throw Missing(id: id) }
        return node
    }

    func store(_ node: Node, predecessor: ChunkID?) throws(Missing) -> ChunkID {
        let id = ChunkID(hashing: node.encoded())
        if !isFrozen { nodes[id] = node }
        return id
    }
}
