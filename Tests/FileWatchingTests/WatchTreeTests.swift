// The tree of known directories: places, limbo, states, rules.

import FileIO
import TestTraits
import Testing

@testable import Exclusions
@testable import FileWatching

@Suite(.blocking) struct WatchTreeTests {
    private static func name(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("a removed directory leaves nothing behind")
    func removal() {
        var tree = WatchTree()
        let outer = tree.insert(Self.name("outer"), in: .root)
        let inner = tree.insert(Self.name("inner"), in: outer)
        tree.setWatch(WatchID(7), of: outer)
        tree.setWatch(WatchID(-3), of: inner)
        tree.setRules(DirectoryRules(ignoreFiles: [IgnoreFile(Self.name("*.o"))], isCache: false), of: inner)
        #expect(tree.hasRules)
        #expect(tree.stats.inotifyDirectories == 1 && tree.stats.fanotifyDirectories == 1)

        #expect(tree.remove(outer).map(\.number).sorted() == [-3, 7])
        #expect(!tree.hasRules && tree.watches.isEmpty && tree.stats == WatchStats())
        let again = tree.insert(Self.name("outer"), in: .root)
        #expect(tree.children(of: again).isEmpty && tree.state(of: again) == .unknown)
    }

    @Test("a directory in limbo has no path and does not count")
    func limbo() {
        var tree = WatchTree()
        let moved = tree.insert(Self.name("moved"), in: .root)
        let below = tree.insert(Self.name("below"), in: moved)
        tree.setUnwatched(.polled, of: below)
        #expect(tree.polled == [below])
        tree.detach(moved)
        #expect(tree.path(of: below) == nil && tree.polled.isEmpty && tree.limbo == [moved])
        tree.move(moved, to: .root, as: Self.name("again"))
        #expect(tree.path(of: below) == "again/below" && tree.polled == [below] && tree.limbo.isEmpty)
    }

    @Test("rules apply below their directory and move with it")
    func rules() {
        var tree = WatchTree()
        let a = tree.insert(Self.name("a"), in: .root)
        let b = tree.insert(Self.name("b"), in: .root)
        let inner = tree.insert(Self.name("inner"), in: a)
        tree.setRules(DirectoryRules(ignoreFiles: [IgnoreFile(Self.name("/inner/x"))], isCache: false), of: a)
        let base = ExclusionScope(ExclusionRules())
        #expect(tree.scope(of: inner, above: base).excludes("a/inner/x", isDirectory: true))
        #expect(tree.scope(of: b, above: base).isTrivial)
        let generation = tree.generation
        tree.move(a, to: b, as: Self.name("c"))
        #expect(tree.generation != generation)
        #expect(tree.scope(of: inner, above: base).excludes("b/c/inner/x", isDirectory: true))
    }
}
