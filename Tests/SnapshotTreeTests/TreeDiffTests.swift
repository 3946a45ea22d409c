// Compares trees, with dictionaries as the reference.

import ArchiveFormat
import FileIO
import SnapshotTree
import TestSupport
import Testing

@Suite("Comparing trees")
struct TreeDiffTests {
    private struct Pair: Equatable {
        let path: RelativePath
        let left: Entry?
        let right: Entry?
    }

    private func differences(
        _ left: ChunkID, _ right: ChunkID, _ nodes: MemoryNodes, scope: RelativePath = .root
    ) throws -> [Pair] {
        var diff = try TreeDiff(left: left, right: right, in: nodes, scope: scope)
        var found: [Pair] = []
        while let next = try diff.next() {
            let path = try #require(next.left?.path ?? next.right?.path)
            found.append(Pair(path: path, left: next.left, right: next.right))
        }
        return found
    }

    private func differences(_ left: [Entry], _ right: [Entry], scope: RelativePath = .root) -> [Pair] {
        let left = Dictionary(uniqueKeysWithValues: left.map { ($0.path, $0) })
        let right = Dictionary(uniqueKeysWithValues: right.map { ($0.path, $0) })
        return Set(left.keys).union(right.keys).sorted()
            .filter { scope.contains($0) && left[$0] != right[$0] }
            .map { Pair(path: $0, left: left[$0], right: right[$0]) }
    }

    @Test("the differences are those of the two maps, in walk order, in any scope")
    func random() throws {
        var random = SeededGenerator()
        let nodes = MemoryNodes()
        for _ in 0..<30 {
            let left = random.entries(random.below(3000))
            var right = left
            switch random.below(4) {
            case 0: right = random.entries(random.below(3000))
            case 1: right.removeFirst(random.below(right.count + 1))
            case 2: right.removeLast(random.below(right.count + 1))
            default:
                let share = 1 + random.below(200)
                right = right.filter { _ in !random.oneIn(share) }
                for index in right.indices where random.oneIn(share) {
                    right[index] = .file(right[index].path, version: 9)
                }
                let present = Set(right.map(\.path))
                right += random.entries(random.below(20)).filter { !present.contains($0.path) }
                right.sort { $0.path < $1.path }
            }
            let leftRoot = try nodes.tree(of: left)
            let rightRoot = try nodes.tree(of: right)
            for scope in [.root, random.path(), left.randomElement(using: &random)?.path.parent ?? .root] {
                #expect(
                    try differences(leftRoot, rightRoot, nodes, scope: scope)
                        == differences(left, right, scope: scope), "TEST_SEED=\(random.seed), \(scope.bytes)")
            }
        }
    }

    @Test("entries that differ only in their signatures are not a difference")
    func signatures() throws {
        let nodes = MemoryNodes()
        let plain = Entry.file(.valid("a"))
        var signed = plain
        signed.signature = Signature(inode: 5, changed: Timestamp(seconds: 9))
        #expect(try differences(nodes.tree(of: [plain]), nodes.tree(of: [signed]), nodes).isEmpty)
        signed.permissions = 0o600
        #expect(try differences(nodes.tree(of: [plain]), nodes.tree(of: [signed]), nodes).count == 1)
    }

    @Test("one changed entry of 100,000 is found by reading one node per level of each tree")
    func reads() throws {
        let nodes = MemoryNodes()
        let entries = realisticEntries(100_000)
        let left = try nodes.tree(of: entries)
        let right = try nodes.edited(left, [.put(.file(entries[43_210].path, version: 2))])
        let height = try #require(nodes.nodes[left]).level + 1
        nodes.resetCounts()
        #expect(try differences(left, right, nodes).map(\.path) == [entries[43_210].path])
        #expect(nodes.reads.count == 2 * height)
    }

    @Test("only nodes that the trees do not share are read")
    func unshared() throws {
        var random = SeededGenerator()
        let nodes = MemoryNodes()
        let entries = random.entries(20_000)
        let left = try nodes.tree(of: entries)
        var edits: [TreeEdit] = entries.filter { _ in random.oneIn(2000) }.map { .remove($0.path) }
        edits += entries.suffix(1).map { .put(.file($0.path, version: 5000)) }
        let unique = Dictionary(edits.map { ($0.path, $0) }) { $1 }.values.sorted { $0.path < $1.path }
        let right = try nodes.edited(left, unique)
        let shared = nodes.reachable(from: left).intersection(nodes.reachable(from: right))
        nodes.resetCounts()
        #expect(try differences(left, right, nodes).count == unique.count, "TEST_SEED=\(random.seed)")
        #expect(nodes.reads.count { shared.contains($0) } == 0, "TEST_SEED=\(random.seed)")
        nodes.resetCounts()
        #expect(try differences(left, left, nodes).isEmpty)
        #expect(nodes.reads.count <= 2)
    }
}
