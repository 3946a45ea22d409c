// Events on a tree of known directories: marked paths, queued crawls and retired watches. No kernel is involved.

import FileIO
import TestTraits
import Testing

@testable import FileWatching

@Suite(.blocking) struct ChangeTrackerTests {
    /// A tracker with the watches 1: the root, 2: a, 3: a/b, 4: c.
    private static func tracker() -> ChangeTracker {
        var tracker = ChangeTracker()
        var item = CrawlItem.root(reports: false)
        func meet(_ watch: Int32, _ subdirectories: [String]) {
            if let node = tracker.found(item, watch: WatchID(watch)) {
                tracker.listed(node, subdirectories: subdirectories.map { Array($0.utf8) }, reports: false)
            }
            if let next = tracker.pending.popLast() { item = next }
        }
        meet(1, ["a", "c"])
        meet(2, ["b"])
        meet(3, [])
        meet(4, [])
        return tracker
    }

    struct Case: CustomTestStringConvertible {
        let name: String
        let events: [DirectoryEvent]
        var ranges: [PathRange] = []
        /// Paths queued for a crawl.
        var crawled: [RelativePath] = []
        /// Watches of directories in limbo.
        var limbo: [Int32] = []
        var retired: [Int32] = []
        var rootNeedsCheck = false

        var testDescription: String { name }
    }

    private static func event(_ watch: Int32, _ mask: EventMask, _ name: String = "") -> DirectoryEvent {
        DirectoryEvent(watch: WatchID(watch), mask: mask, name: Array(name.utf8))
    }

    static let cases: [Case] = [
        Case(name: "content", events: [event(3, .modify, "f"), event(3, .closeWrite, "f")], ranges: [.entry("a/b/f")]),
        Case(name: "a file appears", events: [event(2, .create, "f")], ranges: [.entry("a"), .entry("a/f")]),
        Case(name: "a file disappears", events: [event(1, .delete, "f")], ranges: [.entry(.root), .entry("f")]),
        Case(
            name: "a directory's permissions",
            events: [event(1, [.attributes, .isDirectory], "c"), event(4, .attributes)],
            ranges: [.entry("c")]),
        Case(name: "the root's permissions", events: [event(1, .attributes)], ranges: [.entry(.root)]),
        Case(
            name: "a directory appears", events: [event(2, [.create, .isDirectory], "n")],
            ranges: [.entry("a"), .entry("a/n")], crawled: ["a/n"]),
        Case(
            name: "a directory is deleted and its watch ends",
            events: [
                event(4, .deleteSelf), event(1, [.delete, .isDirectory], "c"), event(4, .ignored),
            ], ranges: [.entry(.root), .entry("c")], crawled: ["c"]),
        Case(
            name: "a watch ends before the deletion is reported", events: [event(4, .deleteSelf), event(4, .ignored)],
            ranges: [.entry(.root), .entry("c")], crawled: ["c"]),
        Case(
            name: "a directory is moved away; changes in it are not reported under its old path",
            events: [
                event(1, [.movedFrom, .isDirectory], "a"), event(3, .create, "f"),
            ], ranges: [.entry(.root), .entry("a")], crawled: ["a"], limbo: [2]),
        Case(
            name: "a directory is renamed",
            events: [
                event(1, [.movedFrom, .isDirectory], "c"), event(2, [.movedTo, .isDirectory], "d"), event(4, .moveSelf),
            ], ranges: [.entry(.root), .entry("a"), .entry("a/d"), .entry("c")], crawled: ["c", "a/d"],
            limbo: [4]),
        Case(
            name: "a file takes a directory's place", events: [event(1, .movedTo, "c")],
            ranges: [.entry(.root), .entry("c")], limbo: [4]),
        Case(
            name: "merged: a directory appeared and disappeared, in either order",
            events: [event(1, [.create, .delete, .isDirectory], "c")],
            ranges: [.entry(.root), .entry("c")], crawled: ["c"], limbo: [4]),
        Case(
            name: "merged: a file appeared and disappeared in the place of a known directory",
            events: [event(1, [.create, .delete], "c")],
            ranges: [.entry(.root), .entry("c")], crawled: ["c"], limbo: [4]),
        Case(
            name: "merged: a file appeared and disappeared", events: [event(1, [.create, .delete, .closeWrite], "f")],
            ranges: [.entry(.root), .entry("f")]),
        Case(name: "the root is renamed", events: [event(1, .moveSelf)], rootNeedsCheck: true),
        Case(name: "the root is unmounted", events: [event(1, .unmount), event(1, .ignored)], rootNeedsCheck: true),
        Case(name: "the watch of another root", events: [event(9, .create, "f")]),
    ]

    @Test("events mark paths and queue crawls", arguments: cases)
    func events(_ example: Case) {
        var tracker = Self.tracker()
        #expect(tracker.pending.isEmpty && tracker.dirty.isEmpty)
        var isMarked = false
        for event in example.events { isMarked = tracker.apply(event) || isMarked }
        #expect(isMarked == !example.ranges.isEmpty)
        #expect(tracker.dirty.ranges == example.ranges)
        #expect(tracker.pending.compactMap { tracker.path(of: $0) } == example.crawled)
        #expect(tracker.tree.limbo == Set(example.limbo.compactMap { tracker.tree.node(watchedBy: WatchID($0)) }))
        #expect(tracker.takeRetired().map(\.number) == example.retired)
        #expect(tracker.rootNeedsCheck == example.rootNeedsCheck)
    }

    @Test("a renamed directory is recognised by its watch")
    func renamed() throws {
        var tracker = Self.tracker()
        let moved = try #require(tracker.tree.node(watchedBy: WatchID(2)))
        _ = tracker.apply(Self.event(1, [.movedFrom, .isDirectory], "a"))
        _ = tracker.apply(Self.event(4, [.movedTo, .isDirectory], "x"))
        let item = try #require(tracker.pending.last)
        tracker.pending = []
        let met = tracker.found(item, watch: WatchID(2))
        #expect(met == moved)
        #expect(tracker.tree.node(watchedBy: WatchID(3)).flatMap { tracker.tree.path(of: $0) } == "c/x/b")
        tracker.reapLimbo()
        #expect(tracker.takeRetired() == [])
    }

    /// RENAME_EXCHANGE (rename(2)) reports two renames; here the first is crawled before the second is reported.
    @Test("both directories are known after they are exchanged")
    func exchanged() throws {
        var tracker = Self.tracker()
        func crawl(_ name: String, _ watch: Int32) throws {
            let index = try #require(tracker.pending.firstIndex { $0.place?.name == Array(name.utf8) })
            let item = tracker.pending.remove(at: index)
            _ = tracker.found(item, watch: WatchID(watch))
        }
        _ = tracker.apply(Self.event(1, [.movedFrom, .isDirectory], "a"))
        _ = tracker.apply(Self.event(1, [.movedTo, .isDirectory], "c"))
        try crawl("c", 2)
        _ = tracker.apply(Self.event(1, [.movedFrom, .isDirectory], "c"))
        _ = tracker.apply(Self.event(1, [.movedTo, .isDirectory], "a"))
        try crawl("c", 2)
        try crawl("a", 4)
        tracker.reapLimbo()
        #expect(tracker.takeRetired() == [])
        #expect(tracker.tree.node(watchedBy: WatchID(2)).flatMap { tracker.tree.path(of: $0) } == "c")
        #expect(tracker.tree.node(watchedBy: WatchID(4)).flatMap { tracker.tree.path(of: $0) } == "a")
    }

    @Test("a directory that is not found again is removed with everything below it")
    func reaped() {
        var tracker = Self.tracker()
        _ = tracker.apply(Self.event(1, [.movedFrom, .isDirectory], "a"))
        tracker.reapLimbo()
        #expect(tracker.takeRetired().map(\.number).sorted() == [2, 3])
        #expect(tracker.tree.watches.map(\.number).sorted() == [1, 4])
    }

    @Test("a known directory that is missing from the listing goes to limbo")
    func unlisted() {
        var tracker = Self.tracker()
        tracker.listed(.root, subdirectories: [Array("a".utf8)], reports: true)
        #expect(tracker.dirty.ranges == [.entry(.root), .entry("c")])
        tracker.reapLimbo()
        #expect(tracker.takeRetired() == [WatchID(4)])
    }

    @Test("a directory is never moved below itself")
    func cycle() {
        var tracker = Self.tracker()
        let inside = tracker.tree.node(watchedBy: WatchID(3)).map { CrawlItem(Array("x".utf8), in: $0, reports: true) }
        let met = inside.flatMap { tracker.found($0, watch: WatchID(2)) }
        #expect(inside != nil && met == nil)
        #expect(tracker.tree.node(watchedBy: WatchID(2)).flatMap { tracker.tree.path(of: $0) } == "a")
    }
}
