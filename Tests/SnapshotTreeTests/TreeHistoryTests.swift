// The shape of a tree depends only on its entries, never on its history.

import ArchiveFormat
import FileIO
import SnapshotTree
import TestSupport
import Testing

@Suite("Trees do not depend on their history")
struct TreeHistoryTests {
    /// The map that a tree represents.
    private struct Model {
        var entries: [RelativePath: Entry] = [:]
        var sorted: [Entry] { entries.values.sorted { $0.path < $1.path } }

        mutating func apply(_ edits: [TreeEdit]) {
            for edit in edits { entries[edit.path] = edit.entry }
        }
    }

    @Test("after any edits, the tree is the one that the format document describes")
    func randomHistories() throws {
        var random = SeededGenerator()
        let nodes = MemoryNodes()
        for _ in 0..<8 {
            var model = Model()
            var root: ChunkID?
            for step in 0..<14 {
                let edits = batch(&random, model.sorted, step)
                model.apply(edits)
                root = try nodes.edited(root, edits)
                let expected = try nodes.treeByTheBook(of: model.sorted)
                try #require(root == expected, "TEST_SEED=\(random.seed), step \(step)")
            }
        }
    }

    /// A batch of edits of one of several kinds, in walk order.
    private func batch(_ random: inout SeededGenerator, _ present: [Entry], _ step: Int) -> [TreeEdit] {
        let kind = step == 0 ? 0 : random.below(9)
        switch kind {
        case 0: return random.entries(1 + random.below(3000)).map { .put($0) }
        case 1: return random.entries(1 + random.below(5)).map { .put($0) }
        case 2:
            // Remove everything but a few entries at the end.
            return present.dropLast(random.below(70)).map { .remove($0.path) }
        case 3:
            // Remove everything but a few entries at the beginning.
            return present.dropFirst(random.below(70)).map { .remove($0.path) }
        case 4:
            let start = random.below(present.count + 1)
            return present[start...].prefix(random.below(800)).map { .remove($0.path) }
        case 5:
            return [present.first, present.count > 1 ? present.last : nil].compactMap { entry in
                entry.map { random.oneIn(2) ? .remove($0.path) : .put(.file($0.path, version: 7777)) }
            }
        case 6:
            // Remove paths that do not exist.
            let paths = Set(present.map(\.path))
            return random.entries(50).filter { !paths.contains($0.path) }.map { .remove($0.path) }
        default:
            let share = 1 + random.below(100)
            var edits: [RelativePath: TreeEdit] = [:]
            for entry in random.entries(1 + random.below(300)) { edits[entry.path] = .put(entry) }
            for entry in present where random.oneIn(share) {
                edits[entry.path] = random.oneIn(2) ? .remove(entry.path) : .put(.file(entry.path, version: 8888))
            }
            return edits.values.sorted { $0.path < $1.path }
        }
    }

    @Test("removing every path leaves the empty tree")
    func removeEverything() throws {
        var random = SeededGenerator()
        let nodes = MemoryNodes()
        let entries = random.entries(2000)
        let full = try nodes.tree(of: entries)
        let empty = try nodes.edited(full, entries.map { .remove($0.path) })
        #expect(empty == ChunkID(hashing: [0xa0]), "TEST_SEED=\(random.seed)")
        #expect(try nodes.edited(nil, []) == empty)
        #expect(try nodes.edited(empty, entries.map { .put($0) }) == full, "TEST_SEED=\(random.seed)")
    }

    @Test("any remaining part of a tree equals a new tree of that part", arguments: [0, 1, 2, 3, 4, 5])
    func remainders(salt: Int) throws {
        let nodes = MemoryNodes()
        let entries = (0..<2500).map { number in Entry.file(.valid("\(salt)/\(100_000 + number)")) }
        let full = try nodes.tree(of: entries)
        let ends = entries.indices.filter { TreeShape.standard.cutsAfter(path: entries[$0].path, level: 0) }
        // Each leaf alone, including the last one: the end of the tree is not always a cut.
        for (start, end) in zip([-1] + ends, ends + [entries.count - 1]) {
            let kept = (start + 1)...end
            let edits = entries.indices.filter { !kept.contains($0) }.map { TreeEdit.remove(entries[$0].path) }
            let rest = try nodes.edited(full, edits)
            let expected = try nodes.treeByTheBook(of: Array(entries[kept]))
            #expect(rest == expected, "\(kept)")
        }
    }

    @Test("a run of a thousand paths without a cut is split at 512")
    func longRuns() throws {
        let nodes = MemoryNodes()
        let uncut = (0..<2000).map { RelativePath.valid("long/\(1000 + $0)") }
            .filter { !TreeShape.standard.cutsAfter(path: $0, level: 0) }
        let entries = uncut.prefix(1100).map { Entry.file($0) }
        let root = try nodes.tree(of: entries)
        #expect(try nodes.treeByTheBook(of: entries) == root)
        guard case .inner(1, let children)? = nodes.nodes[root] else {
            Issue.record("the root is not a node of level 1")
            return
        }
        #expect(children.map(\.entries) == [512, 512, 76])
        // Removing an entry at the front moves all splits up to the next cut.
        let shorter = try nodes.edited(root, [.remove(entries[0].path)])
        #expect(try nodes.treeByTheBook(of: Array(entries.dropFirst())) == shorter)
    }
}
