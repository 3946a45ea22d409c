// Captures of ranges, as a watcher requests them: if every change is in a range, the snapshot is complete.

import ArchiveFormat
import ArchiveStorage
import FileIO
import FileWatching
import Roots
import SnapshotTree
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit
@testable import Capturing

@Suite(.blocking) struct CaptureRangeTests {
    /// Every changed path has a range of its own; further ranges cover it too, or cover no change.
    @Test("a capture of ranges with all changes captures the complete state", arguments: 1...3)
    func completeRanges(run: Int) throws {
        let sandbox = try Sandbox()
        var random = SeededGenerator("ranges with all changes, run \(run)")
        let seed = random.seed
        var edits = RandomEdits(sandbox.root, SeededGenerator(seed: random.next()))
        for _ in 0..<30 { _ = try edits.edit() }
        try sandbox.capture()
        for step in 0..<40 {
            let before = try TreeListing(of: sandbox.root.directory)
            let log = try (0...random.below(4)).map { _ in try edits.edit() }
            let after = try TreeListing(of: sandbox.root.directory)
            let changed = try after.differences(from: before).map { try RelativePath.at(FilePath($0.path)) }
            var ranges = Set(changed.map { PathRange.entry($0) })
            let paths = try Set(after.objects.keys).union(before.objects.keys).sorted().map {
                try RelativePath.at(FilePath($0))
            }
            for _ in 0..<random.below(4) {
                let path = paths[random.below(paths.count)]
                if !path.isRoot { ranges.insert(random.below(2) == 0 ? .children(path) : .subtree(path)) }
            }
            if random.below(3) == 0 { ranges.insert(.children(.root)) }
            let note = "seed \(seed), step \(step): \(log), \(ranges.sorted())"
            let result = try sandbox.capture(ranges.sorted())
            try sandbox.restored(result.latest).expect(equals: after, "\(note)")
            #expect(try sandbox.archive.capture(sandbox.root.directory).snapshot == nil, "\(note)")
            let changes = try sandbox.archive.changes(from: result.latest.parent, to: result)
            #expect(changes == before.kinds(ofDifferencesTo: after), "\(note)")
        }
        try sandbox.expectCleanArchive()
    }

    /// Nested ranges, as they occur when other names of a hard-linked file are added.
    @Test("overlapping ranges are counted once")
    func overlappingRanges() throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("d/sub/deep")
        try sandbox.root.write("d/file", "x")
        try sandbox.root.write("d/sub/file", "x")
        try sandbox.root.write("d/sub/deep/file", "x")
        try sandbox.root.write("z", "x")
        try sandbox.capture()
        for path in ["d/file", "d/sub/file", "d/sub/deep/file", "z"] as [FilePath] {
            try sandbox.root.write(path, "yy")
        }
        let d = try RelativePath.at("d")
        let sub = try RelativePath.at("d/sub")
        let result = try sandbox.capture([
            .children(.root), .entry(d), .children(d), .entry(.at("d/file")), .entry(.at("d/gone")), .entry(sub),
            .children(sub),
            .subtree(.at("d/sub/deep")), .entry(.at("d/sub/deep/file")), .entry(.at("d/sub/file")), .entry(.at("z")),
        ])
        let snapshot = try #require(result.snapshot)
        #expect(snapshot.changes == ChangeCounts(added: 0, modified: 4, removed: 0))
        #expect(snapshot.totals.files == 4)
        let listing = try TreeListing(of: sandbox.root.directory)
        try sandbox.restored(snapshot).expect(equals: listing, "the snapshot")
    }

    /// The renamed directory has one name of a file; the other name is outside and unchanged.
    @Test("a renamed directory with a hard link to a file outside of it is captured")
    func renamedDirectoryWithLink() throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("a")
        try sandbox.root.write("a/name", "x")
        try sandbox.root.makeLink("other", to: "a/name")
        try sandbox.capture()
        try sandbox.root.rename("a", to: "b")
        let result = try sandbox.capture([.children(.root), .subtree(.at("a")), .subtree(.at("b"))])
        let listing = try TreeListing(of: sandbox.root.directory)
        try sandbox.restored(try #require(result.snapshot)).expect(equals: listing, "the snapshot")
        try sandbox.expectCleanArchive()
    }

    @Test("a file that lost its second name and gets a new one has both names in the snapshot")
    func linkedAgain() throws {
        let sandbox = try Sandbox()
        let links = LinkIndex()
        try sandbox.root.write("a", "x")
        try sandbox.root.makeLink("b", to: "a")
        try sandbox.capture()
        func capture(_ name: FilePath) throws {
            let result = try sandbox.capture([.entry(.root), .entry(.at(name))], linkIndex: links)
            let listing = try TreeListing(of: sandbox.root.directory)
            try sandbox.restored(try #require(result.snapshot)).expect(equals: listing, "after \(name)")
        }
        try sandbox.root.remove("b")
        try capture("b")
        try sandbox.root.makeLink("c", to: "a")
        try capture("c")
    }

    @Test("a file without a known inode that gets another name has both names in the snapshot")
    func linkedUnsettled() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("a", "x")
        try sandbox.root.write("c", "x")
        try sandbox.capture()
        // As if the file had changed just before it was read.
        try sandbox.removeSignature(of: "a")
        try sandbox.root.makeLink("b", to: "a")
        let result = try sandbox.capture([.entry(.root), .entry(.at("b"))])
        let listing = try TreeListing(of: sandbox.root.directory)
        try sandbox.restored(try #require(result.snapshot)).expect(equals: listing, "after the link")
    }

    @Test("names of one file that were read in different states are scanned again")
    func torn() throws {
        func change(_ name: FilePath, _ group: UInt64?, changed: Int64?) throws -> ScanChange {
            let signature = changed.map { Signature(inode: group ?? 1, changed: Timestamp(seconds: $0)) }
            let entry = Entry(
                path: try .at(name), kind: .file, permissions: 0o644, modified: Timestamp(seconds: 1), linkGroup: group,
                signature: signature)
            return ScanChange(old: nil, new: entry)
        }
        var links = LinkedNames()
        for (name, group, changed) in [
            ("a", 7, 1), ("b", 7, 2), ("c", 8, 3), ("d", 8, 3), ("e", 9, nil), ("f", 9, 4), ("g", nil, 5),
        ] as [(FilePath, UInt64?, Int64?)] {
            links.add(try change(name, group, changed: changed))
        }
        let expected = try ["a", "b", "e", "f"].map { PathRange.entry(try .at($0)) }
        #expect(links.torn.sorted() == expected)
    }

    @Test("a directory's time makes a snapshot only if the previous snapshot should have had it")
    func missedDirectoryTimes() throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("d")
        try sandbox.root.write("other", "1")
        try sandbox.capture()
        func comeAndGo() throws -> Timestamp {
            try sandbox.root.write("d/temporary", "")
            try sandbox.root.remove("d/temporary")
            let d = CName("d".utf8)
            return try #require(
                try FileStatus.read(d, in: RootDirectory.open(sandbox.root.directory).directory.descriptor)
            ).modified
        }
        _ = try comeAndGo()
        try sandbox.root.write("other", "22")
        // As if the directory had been scanned before that change.
        let second = try sandbox.capture([.entry(.at("other"))], .watch)
        #expect(second.snapshot != nil)
        let third = try sandbox.capture([.entry(.at("d"))], .watch, lastScan: LastScan(second))
        let listing = try TreeListing(of: sandbox.root.directory)
        try sandbox.restored(try #require(third.snapshot)).expect(equals: listing, "the third snapshot")
        // The kernel's clock for files is a few milliseconds behind.
        while try comeAndGo() <= third.scannedUntil {}
        #expect(try sandbox.capture([.entry(.at("d"))], .watch, lastScan: LastScan(third)).snapshot == nil)
    }
}

extension Sandbox {
    /// Makes a snapshot in which the entry at `path` has no signature.
    fileprivate func removeSignature(of path: FilePath) throws {
        let latest = try archive.snapshot(.latest)
        var entry = try #require(try archive.entry(at: .at(path), in: latest))
        entry.signature = nil
        let commit = try archive.store.beginCommit()
        let writer = NodeWriter(archive.store, commit: commit, level: 1)
        var editor = try TreeEditor(base: latest.tree, source: archive.nodes, sink: writer)
        try editor.apply(.put(entry))
        let tree = try editor.finish()
        try writer.flush()
        var snapshot = try archive.store.snapshot(latest.id)
        (snapshot.tree, snapshot.parent) = (tree, latest.id)
        snapshot.sequence += 1
        snapshot.time = latest.time.advanced(byNanoseconds: 1)
        _ = try commit.commit(snapshot, base: nil)
    }

    /// Captures ranges of the root, in walk order.
    fileprivate func capture(
        _ ranges: [PathRange], _ cause: Cause = .capture, lastScan: LastScan? = nil,
        linkIndex: LinkIndex = LinkIndex()
    ) throws -> CaptureResult {
        var capture = Capture(into: archive.nodes, CaptureOptions(cause: cause))
        (capture.linkIndex, capture.lastScan) = (linkIndex, lastScan)
        return try capture.run(RootDirectory.open(root.directory), ranges: ranges)
    }
}

extension Archive {
    /// The changes of a capture except those of links, by path; empty if it made no snapshot.
    fileprivate func changes(from parent: SnapshotID?, to result: CaptureResult) throws -> [String: Difference.Kind] {
        guard let snapshot = result.snapshot else { return [:] }
        let before = try #require(try snapshots().first { $0.id == parent })
        var found: [String: Difference.Kind] = [:]
        try differences(from: before, to: snapshot) { difference in
            if difference.aspects != ["links"] { found[TreeListing.key(difference.path)] = difference.kind }
            return true
        }
        return found
    }
}
