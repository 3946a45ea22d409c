// The cost of trees in nodes: their sizes, and how many nodes an edit reads and writes.

import ArchiveFormat
import FileIO
import SnapshotTree
import Testing

@Suite("Cost of trees")
struct TreeCostTests {
    @Test("nodes have at most 512 items, about 64 on average, and record their children correctly")
    func shape() throws {
        let nodes = MemoryNodes()
        let entries = realisticEntries(100_000)
        let root = try nodes.tree(of: entries)
        let all = nodes.reachable(from: root).compactMap { nodes.nodes[$0] }
        var leaves = 0
        for node in all {
            switch node {
            case .leaf(let entries):
                leaves += 1
                #expect((1...512).contains(entries.count))
            case .inner(let level, let children):
                #expect((1...512).contains(children.count))
                for child in children { try expectRight(child, nodes.nodes[child.id], level: level - 1, nodes) }
            }
        }
        // 1562 are expected; the lengths of runs are geometric, with a standard deviation of 40.
        #expect((1360...1760).contains(leaves), "\(leaves) leaves")
    }

    private func expectRight(_ child: Node.Child, _ node: Node?, level: Int, _ nodes: MemoryNodes) throws {
        let node = try #require(node)
        #expect(node.level == level)
        #expect(node.firstPath == child.firstPath)
        switch node {
        case .leaf(let entries):
            #expect(child.entries == UInt64(entries.count))
            #expect(child.bytes == entries.reduce(0) { $0 + $1.size })
        case .inner(_, let children):
            #expect(child.entries == children.reduce(0) { $0 + $1.entries })
            #expect(child.bytes == children.reduce(0) { $0 + $1.bytes })
        }
    }

    @Test("an edit of one of 200,000 entries reads and writes one node per level")
    func oneEdit() throws {
        let nodes = MemoryNodes()
        let entries = realisticEntries(200_000)
        let base = try nodes.tree(of: entries)
        let height = try #require(nodes.nodes[base]).level + 1
        // No place near the end: after the last cut of a level, all nodes are rebuilt.
        for place in [1000, 77_777, 123_456, 190_000] {
            nodes.resetCounts()
            _ = try nodes.edited(base, [.put(.file(entries[place].path, version: 2))])
            #expect(nodes.writes.values.allSatisfy { $0 == 1 })
            #expect(nodes.writes.count == height)
            #expect(nodes.reads.count <= height)
        }
    }

    @Test("an insertion or a removal writes at most three nodes per level, at any place")
    func oneInsertion() throws {
        let nodes = MemoryNodes()
        let entries = realisticEntries(50_000)
        let base = try nodes.tree(of: entries)
        let height = try #require(nodes.nodes[base]).level + 1
        for place in stride(from: 0, to: entries.count, by: 997) + [entries.count - 1] {
            for edit in [
                TreeEdit.remove(entries[place].path),
                .put(.file(.valid(entries[place].path.description + " (copy)"))),
            ] {
                nodes.resetCounts()
                _ = try nodes.edited(base, [edit])
                #expect(nodes.writes.values.allSatisfy { $0 <= 3 }, "place \(place)")
                #expect(nodes.reads.count <= 3 * height, "place \(place)")
            }
        }
    }
}
