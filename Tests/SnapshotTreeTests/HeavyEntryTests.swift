// Entries with large attributes: nodes still fit into a block, and their shape depends only on the content.

import ArchiveFormat
import FileIO
import SnapshotTree
import TestSupport
import Testing

@Suite("Heavy entries")
struct HeavyEntryTests {
    /// Files of which every third has attributes of `bytes` bytes.
    private func entries(_ count: Int, bytes: Int) -> [Entry] {
        (0..<count).map { number in
            var entry = Entry.file(.valid("file \(10_000 + number)"), version: number % 5)
            let value = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: EntryAttribute.inlineLimit)
            entry.attributes = (0..<(number % 3 == 0 ? bytes / value.count : 1)).map {
                EntryAttribute(name: Array("user.\(10_000 + $0)".utf8), value: value)
            }
            return entry
        }
    }

    @Test("a node never exceeds the block limit, even if its entries have large attributes")
    func size() throws {
        let nodes = MemoryNodes()
        for bytes in [65_536, 6 << 20] {
            _ = try nodes.tree(of: entries(bytes > 1 << 20 ? 20 : 900, bytes: bytes))
        }
        let longest = nodes.nodes.values.map { $0.encoded().count }.max() ?? 0
        #expect(longest <= 16 << 20, "\(longest)")
    }

    @Test("the tree of heavy entries does not depend on its history")
    func history() throws {
        var random = SeededGenerator()
        let nodes = MemoryNodes()
        let all = entries(600, bytes: 65_536)
        let whole = try nodes.tree(of: all)
        #expect(try nodes.treeByTheBook(of: all) == whole)
        var grown = try nodes.tree(of: [])
        for part in 0..<4 {
            grown = try nodes.edited(grown, all.enumerated().filter { $0.offset % 4 == part }.map { .put($0.element) })
        }
        #expect(grown == whole)
        let some = all.filter { _ in random.oneIn(3) }
        let removed = Set(some.map(\.path))
        let rest = try nodes.edited(whole, some.map { .remove($0.path) })
        #expect(try rest == nodes.tree(of: all.filter { !removed.contains($0.path) }), "TEST_SEED=\(random.seed)")
    }
}
