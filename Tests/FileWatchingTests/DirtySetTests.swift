// Marks and the ranges that result from them.

import FileIO
import TestSupport
import TestTraits
import Testing

@testable import FileWatching

@Suite(.blocking) struct DirtySetTests {
    struct Case: CustomTestStringConvertible {
        let name: String
        let marks: [PathRange]
        let ranges: [PathRange]

        var testDescription: String { name }
    }

    @Test(
        "marks are normalised",
        arguments: [
            Case(name: "nothing", marks: [], ranges: []),
            Case(
                name: "walk order, not byte order",
                marks: [.entry("a.b"), .entry("a/b"), .entry("a"), .entry(.root)],
                ranges: [.entry(.root), .entry("a"), .entry("a/b"), .entry("a.b")]),
            Case(
                name: "once each", marks: [.entry("a"), .entry("a"), .subtree("b"), .subtree("b")],
                ranges: [.entry("a"), .subtree("b")]),
            Case(
                name: "nothing inside a subtree, in any order of marking",
                marks: [
                    .entry("a/b/c"), .children("a/d"), .subtree("a"), .subtree("a/e"), .entry("a/f"), .entry("ab"),
                ],
                ranges: [.subtree("a"), .entry("ab")]),
            Case(
                name: "the root's subtree covers everything",
                marks: [.entry("a"), .subtree(.root), .children("b"), .entry(.root)], ranges: [.subtree(.root)]),
            Case(
                name: "children cover a directory's names, but nothing below them",
                marks: [.entry("a/b"), .children("a"), .entry("a/c/d"), .entry("a"), .subtree("a/e")],
                ranges: [.children("a"), .entry("a/c/d"), .subtree("a/e")]),
            Case(
                name: "the widest range of a path",
                marks: [.children("a"), .entry("a"), .subtree("b"), .children("b"), .entry("c"), .children("c")],
                ranges: [.children("a"), .subtree("b"), .children("c")]),
            Case(
                name: "a name with a subtree's name as its prefix",
                marks: [.subtree("build"), .entry("builda"), .entry("build.txt")],
                ranges: [.subtree("build"), .entry("build.txt"), .entry("builda")]),
        ])
    func normalised(_ example: Case) {
        var dirty = DirtySet()
        for mark in example.marks { dirty.mark(mark) }
        #expect(dirty.isEmpty == example.marks.isEmpty)
        #expect(dirty.take() == example.ranges)
        #expect(dirty.isEmpty && dirty.take() == [])
    }

    @Test("too many names become the directory's children")
    func manyNames() {
        var dirty = DirtySet()
        for number in 0..<DirtySet.namesPerDirectory { dirty.mark(.entry(path("d/\(number)"))) }
        #expect(dirty.ranges.count == DirtySet.namesPerDirectory)
        dirty.mark(.entry("d/one-more"))
        #expect(dirty.ranges == [.children("d")])
    }

    /// Every marked path stays covered, in bounded memory.
    @Test("every mark stays covered when there are too many", arguments: [UInt64(1), 2, .random(in: 3...999_999)])
    func bounded(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let limit = 50
        var dirty = DirtySet(limit: limit)
        var marks = [PathRange]()
        for _ in 0..<2_000 {
            let names = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                "\(Int.random(in: 0...9, using: &random))"
            }
            let path = path(names.joined(separator: "/"))
            let mark: PathRange =
                switch Int.random(in: 0..<20, using: &random) {
                case 0: .subtree(path)
                case 1, 2: .children(path)
                default: .entry(path)
                }
            marks.append(mark)
            dirty.mark(mark)
            #expect(dirty.count <= limit, "seed \(seed)")
        }
        let ranges = dirty.take()
        #expect(ranges == ranges.sorted(), "seed \(seed)")
        let uncovered = marks.filter { mark in !ranges.contains { covers($0, mark) } }
        #expect(uncovered.isEmpty, "seed \(seed)")
        let repeated = ranges.indices.filter { index in
            ranges.indices.contains { $0 != index && covers(ranges[$0], ranges[index]) }
        }
        #expect(repeated.isEmpty, "seed \(seed)")
    }

    private func covers(_ wide: PathRange, _ narrow: PathRange) -> Bool {
        switch (wide, narrow) {
        case (.subtree(let directory), _): directory.contains(narrow.path)
        case (.children(let directory), .children(let path)): directory == path
        case (.children(let directory), .entry(let path)): directory == path || directory == path.parent
        case (.entry(let entry), .entry(let path)): entry == path
        default: false
        }
    }

    private func path(_ string: String) -> RelativePath { RelativePath(unchecked: Array(string.utf8)) }
}
