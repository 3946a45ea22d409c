// Forged trees that are small to store and endless to visit.

import ArchiveFormat
import FileIO
import SnapshotTree
import TestSupport
import Testing

@Suite("Invalid trees")
struct TreeBombTests {
    /// A root whose nodes all refer to the same child repeatedly: 16^6 entries in 7 nodes.
    private func bomb(_ nodes: MemoryNodes, version: Int, paths: (Int) -> RelativePath) throws -> ChunkID {
        var id = try nodes.store(.leaf([.file(.valid("a"), version: version)]), predecessor: nil)
        for level in 1...6 {
            let children = (0..<16).map { Node.Child(firstPath: paths($0), id: id, entries: 1, bytes: 1) }
            id = try nodes.store(.inner(level: level, children: children), predecessor: nil)
        }
        return id
    }

    @Test("a child with many references is refused when it is reached again")
    func sameChild() throws {
        let nodes = MemoryNodes()
        for paths: (Int) -> RelativePath in [
            { .valid("a\($0 + 10)") }, { $0 == 0 ? .valid("a") : .valid("b\($0 + 10)") },
        ] {
            let root = try bomb(nodes, version: 1, paths: paths)
            nodes.resetCounts()
            var count = 0
            #expect(throws: MemoryNodes.Failure.self) {
                try Tree(root, in: nodes).forEach { (_: Entry) throws(MemoryNodes.Failure) in
                    count += 1
                    return count < 1000
                }
                if count == 1000 { Issue.record("1000 entries of a tree of one") }
            }
            let empty = try nodes.tree(of: [])
            #expect(throws: MemoryNodes.Failure.self) {
                var diff = try TreeDiff(left: root, right: empty, in: nodes)
                var count = 0
                while try diff.next() != nil, count < 1000 { count += 1 }
            }
            #expect(nodes.reads.count < 40)
        }
    }

    @Test("a node whose paths or totals contradict its parent is refused")
    func lies() throws {
        let nodes = MemoryNodes()
        let first = [Entry.file(.valid("a"), version: 1), .file(.valid("b"), version: 2)]
        let second = [Entry.file(.valid("c"), version: 3)]
        func root(_ change: (inout [Node.Child]) -> Void) throws -> ChunkID {
            var children = [
                Node.Child(
                    firstPath: .valid("a"), id: try nodes.store(.leaf(first), predecessor: nil), entries: 2, bytes: 5),
                Node.Child(
                    firstPath: .valid("c"), id: try nodes.store(.leaf(second), predecessor: nil), entries: 1, bytes: 4),
            ]
            change(&children)
            return try nodes.store(.inner(level: 1, children: children), predecessor: nil)
        }
        func refuses(_ change: (inout [Node.Child]) -> Void) throws -> Bool {
            let root = try root(change)
            do throws(MemoryNodes.Failure) {
                try Tree(root, in: nodes).forEach { (_: Entry) throws(MemoryNodes.Failure) in true }
                return false
            } catch { return true }
        }
        #expect(try !refuses { _ in })
        #expect(try refuses { $0[0].firstPath = .valid("A") })
        #expect(try refuses { $0[1].firstPath = .valid("b") })
        #expect(try refuses { $0[0].entries = 3 })
        #expect(try refuses { $0[1].entries = .max })
        #expect(try refuses { $0[0].bytes = 4 })
        #expect(try refuses { $0[1].bytes = .max })
        #expect(try refuses { $0[1].id = $0[0].id })
    }
}
