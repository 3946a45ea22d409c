// Looks up entries and walks ranges, with a sorted array as the reference.

import ArchiveFormat
import FileIO
import SnapshotTree
import TestSupport
import Testing

@Suite("Tree lookups")
struct TreeLookupTests {
    @Test("a lookup returns exactly the entry at the path, and reads one node per level")
    func lookUp() throws {
        var random = SeededGenerator()
        let nodes = MemoryNodes()
        let entries = random.entries(6000)
        let tree = Tree(try nodes.tree(of: entries), in: nodes)
        let height = try #require(nodes.nodes[tree.root]).level + 1
        let present = Dictionary(uniqueKeysWithValues: entries.map { ($0.path, $0) })
        let probes = entries.map(\.path) + (0..<2000).map { _ in random.path() } + [.root]
        for path in probes {
            nodes.resetCounts()
            #expect(try tree.entry(at: path) == present[path], "TEST_SEED=\(random.seed), \(path.bytes)")
            #expect(nodes.reads.count <= height)
        }
    }

    @Test("a path's range is the path and everything below it, in walk order")
    func ranges() throws {
        var random = SeededGenerator()
        let nodes = MemoryNodes()
        let entries = random.entries(5000)
        let tree = Tree(try nodes.tree(of: entries), in: nodes)
        let scopes = [.root] + entries.prefix(200).compactMap(\.path.parent) + (0..<200).map { _ in random.path() }
        for scope in scopes {
            var found: [Entry] = []
            try tree.forEach(at: scope) { entry throws(MemoryNodes.Failure) in
                found.append(entry)
                return true
            }
            #expect(
                found == entries.filter { scope.contains($0.path) }, "TEST_SEED=\(random.seed), \(scope.bytes)")
        }
    }

    @Test("`a`, `a/b`, `a\\u{1}` and `a.b` are in walk order")
    func order() throws {
        let nodes = MemoryNodes()
        let paths = ["a", "a/b", "a/b/c", "a\u{1}", "a.b", "b"].map { RelativePath.valid($0) }
        let tree = Tree(try nodes.tree(of: paths.map { .file($0) }), in: nodes)
        var found: [String] = []
        try tree.forEach(at: paths[0]) { entry throws(MemoryNodes.Failure) in
            found.append(entry.path.description)
            return true
        }
        #expect(found == ["a", "a/b", "a/b/c"])
        for path in paths { #expect(try tree.entry(at: path)?.path == path) }
    }

    @Test("a walk stops when its body returns false")
    func stop() throws {
        var random = SeededGenerator()
        let nodes = MemoryNodes()
        let entries = random.entries(300)
        var seen = 0
        try Tree(try nodes.tree(of: entries), in: nodes).forEach { _ throws(MemoryNodes.Failure) in
            seen += 1
            return seen < 100
        }
        #expect(seen == 100)
    }

    @Test("a cursor that seeks, skips and opens at random is always at the same place as in the sorted array")
    func cursor() throws {
        var random = SeededGenerator()
        let nodes = MemoryNodes()
        let entries = random.entries(8000)
        let root = try nodes.tree(of: entries)
        for _ in 0..<60 {
            var cursor = try TreeCursor(root, in: nodes)
            var place = 0
            while place < entries.count {
                try #require(cursor.path == entries[place].path, "TEST_SEED=\(random.seed)")
                switch random.below(5) {
                case 0:
                    let target = random.oneIn(2) ? random.path() : entries[random.below(entries.count)].path
                    try cursor.seek(to: target)
                    place += entries[place...].prefix { $0.path < target }.count
                case 1: try cursor.open()
                case 2:
                    if case .node(let child, _, _)? = cursor.item {
                        place += Int(child.entries)
                    } else {
                        place += 1
                    }
                    let following = cursor.followingPath
                    cursor.skip()
                    #expect(following == cursor.path, "TEST_SEED=\(random.seed)")
                case 3:
                    #expect(try cursor.entry() == entries[place], "TEST_SEED=\(random.seed)")
                default:
                    #expect(try cursor.next() == entries[place], "TEST_SEED=\(random.seed)")
                    place += 1
                }
            }
            #expect(cursor.path == nil)
            #expect(try cursor.next() == nil)
        }
    }

    @Test("skipping entries by path reads every node once, and stops at another path or entry")
    func skipEntries() throws {
        var random = SeededGenerator()
        let nodes = MemoryNodes()
        let entries = random.entries(4000)
        let root = try nodes.tree(of: entries)
        var cursor = try TreeCursor(root, in: nodes)
        nodes.resetCounts()
        for entry in entries {
            #expect(try !cursor.skipEntry(at: entry.path.bytes) { _ in false }, "TEST_SEED=\(random.seed)")
            #expect(try !cursor.skipEntry(at: entry.path.bytes + [1]) { _ in true }, "TEST_SEED=\(random.seed)")
            let isSkipped = try cursor.skipEntry(at: entry.path.bytes) { $0.path == entry.path }
            try #require(isSkipped, "TEST_SEED=\(random.seed)")
        }
        #expect(cursor.path == nil)
        #expect(try !cursor.skipEntry(at: entries[0].path.bytes) { _ in true })
        #expect(nodes.reads.count == nodes.reachable(from: root).count - 1, "TEST_SEED=\(random.seed)")
    }

    @Test("a child with a wrong level is refused, and a missing one is named")
    func wrongLevel() throws {
        let nodes = MemoryNodes()
        let leaf = try nodes.store(.leaf([.file(.valid("a"))]), predecessor: nil)
        let child = Node.Child(firstPath: .valid("a"), id: leaf, entries: 1, bytes: 1)
        let root = try nodes.store(.inner(level: 2, children: [child]), predecessor: nil)
        #expect(throws: MemoryNodes.Failure.wrong("a node has level 0 instead of 1")) {
            try Tree(root, in: nodes).entry(at: .valid("a"))
        }
        let nobody = ChunkID(hashing: [1])
        #expect(throws: MemoryNodes.Failure.missing(nobody)) { try Tree(nobody, in: nodes).entry(at: .root) }
    }
}
