// Which snapshot a capture builds on, which one is the latest, and which rules apply.

import ArchiveFormat
import ArchiveStorage
import Capturing
import Exclusions
import FileIO
import FileWatching
import Foundation
import Roots
import SnapshotTree
import SystemPackage
import TestTraits
import Testing

@testable import ArchiverKit

@Suite("The base of captures", .blocking)
struct BaseTests {
    private static let noBuild = ExclusionRules(patterns: [Array("build/".utf8)])

    private func paths(_ snapshot: ListedSnapshot, in sandbox: Sandbox) throws -> [String] {
        var paths: [String] = []
        try sandbox.archive.forEachEntry(in: snapshot) { entry in
            if !entry.path.isRoot { paths.append(String(decoding: entry.path.bytes, as: UTF8.self)) }
            return true
        }
        return paths
    }

    /// Enters a snapshot like `record`, made at `time`.
    private func enter(
        like record: ListedSnapshot, at time: Timestamp, in sandbox: Sandbox,
        _ change: (inout Snapshot) -> Void = { _ in }
    ) throws -> ListedSnapshot {
        let store = sandbox.archive.store
        var snapshot = try store.snapshot(record.id)
        snapshot.time = time
        snapshot.parent = record.id
        snapshot.sequence = record.sequence + 1
        change(&snapshot)
        return try store.beginCommit().commit(snapshot, base: nil)
    }

    @Test("after a clock jumped forward and back, the latest snapshot is the last one made")
    func clock() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("f", "past")
        let first = try sandbox.capture()
        let future = try enter(like: first, at: Timestamp(seconds: 4_000_000_000), in: sandbox)
        try sandbox.root.write("f", "present")
        let present = try sandbox.capture()
        #expect([first, future, present].map(\.sequence) == [1, 2, 3])
        #expect(present.time < .now && present.time > first.time)
        let root = try #require(try sandbox.archive.root(at: sandbox.root.directory))
        #expect(try sandbox.archive.snapshot(.latest, of: root) == present)
        #expect(try sandbox.archive.snapshots(SnapshotQuery(root: root)) == [first, future, present])
        // The tree is unchanged, so there is nothing to capture.
        #expect(try sandbox.archive.capture(sandbox.root.directory).snapshot == nil)
        try sandbox.root.write("f", "later")
        _ = try sandbox.archive.restore(sandbox.archive.snapshot(.latest, of: root))
        #expect(try sandbox.root.read("f") == Array("present".utf8))
        // As in a reader with another clock, or in an archive merged from two.
        let rebuilt = try sandbox.reopened()
        #expect(try rebuilt.snapshots(SnapshotQuery(root: root)).map(\.sequence) == [1, 2, 3, 4, 5])
    }

    @Test("after a snapshot with the greatest sequence number a capture fails, until it is forgotten")
    func endOfNumbers() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("f", "1")
        let first = try sandbox.capture()
        let last = try enter(
            like: first, at: Timestamp(seconds: 253_402_300_799, nanoseconds: 999_999_999), in: sandbox
        ) {
            $0.sequence = Snapshot.sequenceLimit
        }
        try sandbox.root.write("f", "22")
        ArchiverError.expect(.damaged) { _ = try sandbox.archive.capture(sandbox.root.directory) }
        try sandbox.archive.store.forget([last.id.chunk])
        let next = try sandbox.capture()
        #expect(next.sequence == 2 && next.totals.bytes == 2)
    }

    @Test("when the latest snapshot is forgotten, the next capture builds on the previous one")
    func forgotten() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("a", "1")
        try sandbox.root.write("b", "1")
        let first = try sandbox.capture()
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        try sandbox.root.write("a", "22")
        try sandbox.root.makeDirectory("new")
        try sandbox.root.write("new/file", "new")
        let second = try await watcher.nextSnapshot { $0.totals.files == 3 }
        let all = try sandbox.archive.snapshots().filter { $0.sequence > first.sequence }
        try sandbox.archive.store.forget(Set(all.map(\.id.chunk)))
        // Only `b` changes, so the watcher gets events for `b` only.
        try sandbox.root.write("b", "333")
        let third = try await watcher.nextSnapshot { $0.id != second.id && $0.totals.bytes == 8 }
        #expect(third.parent == first.id && third.sequence == 2)
        try await watcher.stop()
        let latest = try #require(try sandbox.archive.snapshots().last)
        try sandbox.restored(latest).expect(equals: TreeListing(of: sandbox.root.directory), "after forgetting")
        try sandbox.expectCleanArchive()
    }

    @Test("a capture with other exclusions does not change the snapshots of a running watcher")
    func exclusionsBeside() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("f", "1")
        try sandbox.root.makeDirectory("build")
        try sandbox.root.write("build/o", "1")
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        let aside = try await sandbox.archive.capture(
            sandbox.root.directory, CaptureOptions(exclusions: BaseTests.noBuild)
        ).snapshot
        let made = try #require(aside)
        #expect(made.isAside)
        #expect(try paths(made, in: sandbox) == ["f"])
        try sandbox.root.write("f", "22")
        let next = try await watcher.nextSnapshot()
        #expect(!next.isAside)
        #expect(try paths(next, in: sandbox) == ["build", "build/o", "f"])
        try sandbox.root.write("build/o", "333")
        let last = try await watcher.nextSnapshot { $0.totals.bytes == 5 }
        try sandbox.restored(last).expect(equals: TreeListing(of: sandbox.root.directory), "the watcher's snapshot")
        try await watcher.stop()
        try sandbox.expectCleanArchive()
    }

    @Test("after a capture aside, deleted files are listed as such, and changes name nothing that was only excluded")
    func historyAcrossAside() throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("build")
        for name in ["f", "gone", "build/same", "build/edited", "build/gone"] {
            try sandbox.root.write(FilePath(name), name)
        }
        let first = try sandbox.capture()
        unlink(sandbox.root.full("gone").string)
        let aside = try #require(
            try sandbox.archive.capture(sandbox.root.directory, CaptureOptions(exclusions: BaseTests.noBuild)).snapshot)
        let root = ArchivedRoot(here: sandbox.root.directory)
        #expect(aside.isAside)
        #expect(try sandbox.archive.deletedPaths(in: root).isEmpty, "an exclusion may be the reason")
        unlink(sandbox.root.full("build/gone").string)
        try sandbox.root.write("build/edited", "something else")
        let last = try sandbox.capture()
        let deleted = try sandbox.archive.deletedPaths(in: root)
        #expect(Set(deleted.map { "\($0.path)" }) == ["gone", "build/gone"])
        for one in deleted {
            #expect(one.deletedIn == last)
            #expect(try sandbox.archive.entry(at: one.path, in: one.lastIn) != nil)
        }
        let names = try sandbox.archive.names(matching: Array("*gone".utf8), in: root)
        #expect(names.map(\.isDeleted) == [true, true])
        let changes = try sandbox.archive.combinedChanges(in: root, after: first, through: last)
        let files = changes.filter { $0.kind == .file }.map { "\($0.change) \($0.path)" }
        #expect(Set(files) == ["deleted gone", "deleted build/gone", "modified build/edited"])
        let hidden = try sandbox.archive.combinedChanges(in: root, after: first, through: aside).map { "\($0.path)" }
        #expect(hidden.contains("build/same") && !hidden.contains("f"), "each row agrees with both ends")
    }

    @Test("what only a capture aside has, as the root's rules exclude it, is not deleted by the next snapshot")
    func historyAcrossFullerAside() throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("build")
        for name in ["f", "gone", "build/o", "large"] {
            try sandbox.root.write(FilePath(name), name == "large" ? String(repeating: "x", count: 5_000) : name)
        }
        var rules = BaseTests.noBuild
        rules.largerThan = 1_000
        _ = try sandbox.archive.capture(sandbox.root.directory, CaptureOptions(exclusions: rules))
        try sandbox.root.write("short-lived", "only in the snapshot aside")
        let aside = try #require(
            try sandbox.archive.capture(sandbox.root.directory, CaptureOptions(exclusions: ExclusionRules())).snapshot)
        #expect(aside.isAside)
        unlink(sandbox.root.full("gone").string)
        unlink(sandbox.root.full("short-lived").string)
        let last = try sandbox.capture()
        #expect(try paths(last, in: sandbox) == ["f"])
        let root = ArchivedRoot(here: sandbox.root.directory)
        let deleted = try sandbox.archive.deletedPaths(in: root)
        #expect(Set(deleted.map { "\($0.path)" }) == ["gone", "short-lived"], "build and large are still there")
        let names = try sandbox.archive.names(matching: Array("*".utf8), in: root)
        #expect(Set(names.filter(\.isDeleted).map { "\($0.path)" }) == ["gone", "short-lived"])
        #expect(Set(names.map { "\($0.path)" }).isSuperset(of: ["build", "build/o", "large"]))
    }

    @Test("a capture without exclusions adds nothing stale to the snapshots of a watcher that has exclusions")
    func moreBeside() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("f", "1")
        try sandbox.root.makeDirectory("build")
        try sandbox.root.write("build/o", "1")
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory]) {
            $0.exclusions = BaseTests.noBuild
        }
        // Without options, the watcher's exclusions apply.
        #expect(try await sandbox.archive.capture(sandbox.root.directory).snapshot == nil)
        let all = try #require(
            try await sandbox.archive.capture(sandbox.root.directory, CaptureOptions(exclusions: ExclusionRules()))
                .snapshot)
        #expect(all.isAside)
        #expect(try paths(all, in: sandbox) == ["build", "build/o", "f"])
        try sandbox.root.write("build/o", "changed")
        // Its entries are compared by its own rules.
        var found: [String] = []
        try sandbox.archive.differences(from: all, toDirectory: sandbox.root.directory) { difference in
            found.append("\(difference.path)")
            return true
        }
        #expect(found == ["build/o"])
        try sandbox.root.write("f", "22")
        let next = try await watcher.nextSnapshot()
        #expect(try paths(next, in: sandbox) == ["f"])
        try await watcher.stop()
    }

    @Test("a restarted watcher keeps the exclusions of the previous one unless it gets others")
    func remembered() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("f", "1")
        try sandbox.root.makeDirectory("build")
        try sandbox.root.write("build/o", "1")
        for (rules, expected) in [
            (BaseTests.noBuild, ["f"]), (nil, ["f"]), (ExclusionRules(), ["build", "build/o", "f"]),
            (nil, ["build", "build/o", "f"]),
            (ExclusionRules(patterns: [Array("nothing".utf8)]), ["build", "build/o", "f"]),
        ] as [(ExclusionRules?, [String])] {
            let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory]) { $0.exclusions = rules }
            try await watcher.stop()
            let latest = try #require(try sandbox.archive.snapshots().last)
            #expect(try paths(latest, in: sandbox) == expected)
            #expect(!latest.isAside)
            if let rules { #expect(try sandbox.archive.exclusions(ofRoot: sandbox.root.directory) == rules) }
        }
    }

    @Test("a watcher corrects the snapshot of another process that could not read everything")
    func otherBase() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("f", "1")
        try sandbox.root.makeDirectory("d")
        try sandbox.root.write("d/g", "1")
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        let latest = try #require(try sandbox.archive.snapshots().last)
        // As captured by a user who cannot read `d`, and with an entry that no longer exists.
        var editor = try TreeEditorOfTest(latest, sandbox)
        let other = try editor.commit(removing: ["d", "d/g"], adding: ["ghost"])
        #expect(try paths(other, in: sandbox) == ["f", "ghost"])
        try sandbox.root.write("f", "22")
        let next = try await watcher.nextSnapshot()
        #expect(try paths(next, in: sandbox) == ["d", "d/g", "f"])
        try await watcher.stop()
        try sandbox.restored(next).expect(equals: TreeListing(of: sandbox.root.directory), "the watcher's snapshot")
    }

    @Test("an archive opened by a relative path is found after a change of the working directory")
    func relativePath() throws {
        let sandbox = try Sandbox()
        let here = FilePath(FileManager.default.currentDirectoryPath)
        var relative = FilePath()
        for _ in here.components { relative.append("..") }
        relative.append(sandbox.archive.directory.components)
        #expect(relative.isRelative)
        let archive = try Archive.open(relative)
        #expect(archive.directory.isAbsolute && archive.store.layout.directory.isAbsolute)
        #expect(archive.directory == here.appending(relative.components))
        #expect(FilePath("./a/./b").absolute == here.appending("a").appending("b"))
        #expect(FilePath("/a").absolute == "/a")
    }

    @Test("a tree that lacks a directory of its entries is not used as a base: the whole root is read again")
    func orphans() throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("d")
        try sandbox.root.write("d/a", "1")
        try sandbox.root.write("d/b", "1")
        let first = try sandbox.capture()
        var editor = try TreeEditorOfTest(first, sandbox)
        let broken = try editor.commit(removing: ["d"], adding: [])
        #expect(try paths(broken, in: sandbox) == ["d/a", "d/b"])
        try sandbox.root.write("d/b", "22")
        let capture = Capture(into: sandbox.archive.nodes, CaptureOptions(cause: .watch))
        let result = try capture.run(RootDirectory.open(sandbox.root.directory), ranges: [.entry(.at("d/b"))])
        let snapshot = try #require(result.snapshot)
        #expect(try paths(snapshot, in: sandbox) == ["d", "d/a", "d/b"])
        try sandbox.restored(snapshot).expect(equals: TreeListing(of: sandbox.root.directory), "the next snapshot")
    }
}

/// Commits trees that no capture makes.
private struct TreeEditorOfTest {
    let latest: ListedSnapshot
    let sandbox: Sandbox

    init(_ latest: ListedSnapshot, _ sandbox: Sandbox) throws {
        self.latest = latest
        self.sandbox = sandbox
    }

    mutating func commit(removing: [FilePath], adding: [FilePath]) throws -> ListedSnapshot {
        let archive = sandbox.archive
        let commit = try archive.store.beginCommit()
        let writer = NodeWriter(archive.store, commit: commit, level: 1)
        var editor = try TreeEditor(base: latest.tree, source: archive.nodes, sink: writer)
        var edits: [TreeEdit] = try removing.map { .remove(try .at($0)) }
        edits += try adding.map { .put(Entry(path: try .at($0), kind: .file, permissions: 0o644, modified: .now)) }
        for edit in edits.sorted(by: { $0.path < $1.path }) { try editor.apply(edit) }
        let tree = try editor.finish()
        try writer.flush()
        var snapshot = try archive.store.snapshot(latest.id)
        snapshot.tree = tree
        snapshot.parent = latest.id
        snapshot.sequence += 1
        snapshot.time = latest.time.advanced(byNanoseconds: 1)
        return try commit.commit(snapshot, base: nil)
    }
}
