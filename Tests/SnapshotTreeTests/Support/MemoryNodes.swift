// Stores nodes in a dictionary, and counts every read and write.

import ArchiveFormat
import FileIO
import SnapshotTree

/// A store of nodes in memory; like an archive, it refuses nodes that are missing or contradict their parents.
final class MemoryNodes: NodeSource, NodeSink {
    enum Failure: Error, Equatable {
        case missing(ChunkID)
        case wrong(String)
    }

    private(set) var nodes: [ChunkID: Node] = [:]
    /// The ids of all calls of `node`.
    private(set) var reads: [ChunkID] = []
    /// The number of new nodes stored, by level; equal nodes count once.
    private(set) var writes: [Int: Int] = [:]

    func node(_ id: ChunkID, at place: NodePlace?) throws(Failure) -> Node {
        reads.append(id)
        guard let node = nodes[id] else { throw .missing(id) }
        if let problem = place?.problem(of: node) { throw .wrong(problem) }
        return node
    }

    func store(_ node: Node, predecessor: ChunkID?) throws(Failure) -> ChunkID {
        if let predecessor, nodes[predecessor] == nil { throw .missing(predecessor) }
        let id = ChunkID(hashing: node.encoded())
        if nodes.updateValue(node, forKey: id) == nil { writes[node.level, default: 0] += 1 }
        return id
    }

    func resetCounts() {
        reads = []
        writes = [:]
    }

    /// All nodes of the tree `root`, each once.
    func reachable(from root: ChunkID) -> Set<ChunkID> {
        var found: Set<ChunkID> = []
        var waiting = [root]
        while let id = waiting.popLast() {
            guard found.insert(id).inserted, case .inner(_, let children)? = nodes[id] else { continue }
            waiting += children.map(\.id)
        }
        return found
    }
}

// MARK: - Building

extension MemoryNodes {
    /// The tree of the sorted `entries`, built by the editor from the empty tree.
    func tree(of entries: [Entry]) throws(Failure) -> ChunkID {
        try edited(nil, entries.map { .put($0) })
    }

    /// The tree `base` after `edits`, which are sorted by path.
    func edited(_ base: ChunkID?, _ edits: [TreeEdit]) throws(Failure) -> ChunkID {
        var editor = try TreeEditor(base: base, source: self, sink: self)
        for edit in edits { try editor.apply(edit) }
        return try editor.finish()
    }

    /// The tree of `entries` built as the format document describes it: level by level, without streaming.
    func treeByTheBook(of entries: [Entry]) throws(Failure) -> ChunkID {
        if entries.isEmpty { return try store(.leaf([]), predecessor: nil) }
        var parts: [Node.Child] = []
        for run in runs(entries, level: 0, path: \.path, weight: \.weight) {
            let id = try store(.leaf(run), predecessor: nil)
            let bytes = run.reduce(0) { $0 + $1.size }
            parts.append(Node.Child(firstPath: run[0].path, id: id, entries: UInt64(run.count), bytes: bytes))
        }
        var level = 1
        while parts.count > 1 || TreeShape.standard.cutsAfter(path: parts[0].firstPath, level: level) {
            var above: [Node.Child] = []
            for run in runs(parts, level: level, path: \.firstPath, weight: \.weight) {
                let id = try store(.inner(level: level, children: run), predecessor: nil)
                above.append(
                    Node.Child(
                        firstPath: run[0].firstPath, id: id, entries: run.reduce(0) { $0 + $1.entries },
                        bytes: run.reduce(0) { $0 + $1.bytes }))
            }
            parts = above
            level += 1
        }
        return parts[0].id
    }

    private func runs<Item>(
        _ items: [Item], level: Int, path: (Item) -> RelativePath, weight: (Item) -> Int
    ) -> [[Item]] {
        var runs: [[Item]] = []
        var run: [Item] = []
        var runWeight = 0
        for item in items {
            run.append(item)
            runWeight += weight(item)
            if run.count == 512 || runWeight >= 1_048_576
                || TreeShape.standard.cutsAfter(path: path(item), level: level)
            {
                runs.append(run)
                (run, runWeight) = ([], 0)
            }
        }
        return run.isEmpty ? runs : runs + [run]
    }
}
