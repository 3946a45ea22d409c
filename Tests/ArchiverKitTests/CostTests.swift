// The cost of the main operations in blocks, nodes, disk flushes and opened files: it depends on the changes, not on
// the size of the tree.

import ArchiveFormat
import ArchiveStorage
import Capturing
import FileIO
import FileWatching
import Roots
import SnapshotTree
import SystemPackage
import TestTraits
import Testing

@testable import ArchiverKit

@Suite("Cost of operations", .blocking) struct CostTests {
    /// A captured root of `count` small files, a hundred in each directory.
    private static func sandbox(files count: Int) throws -> Sandbox {
        let sandbox = try Sandbox()
        for directory in 0..<(count / 100) {
            try sandbox.root.makeDirectory("d\(directory)")
            for file in 0..<100 {
                try sandbox.root.write("d\(directory)/f\(file)", "the file \(file) in \(directory), as it was first\n")
            }
        }
        try sandbox.capture()
        return sandbox
    }

    /// The levels of the tree of `snapshot`.
    private static func height(of snapshot: ListedSnapshot, in archive: Archive) throws -> Int {
        try archive.nodes.node(snapshot.tree, level: nil).level + 1
    }

    /// Counts the archive's operations during `body`.
    private static func counts(
        _ archive: Archive, _ body: () throws -> Void
    ) rethrows -> StorageCounters.Counts {
        let before = archive.store.counters.counts
        try body()
        return archive.store.counters.counts - before
    }

    /// Captures one path, as a watcher does.
    private static func capture(_ path: FilePath, of sandbox: Sandbox, in archive: Archive) throws -> ListedSnapshot {
        let capture = Capture(into: archive.nodes, CaptureOptions())
        let range = PathRange.entry(try RelativePath.at(path))
        let result = try capture.run(RootDirectory.open(sandbox.root.directory), ranges: [range])
        return try #require(result.snapshot)
    }

    @Test(
        "one change costs one node per level and a fixed number of disk flushes, among any number of files",
        arguments: [1_000, 10_000])
    func oneChange(files count: Int) throws {
        let sandbox = try CostTests.sandbox(files: count)
        let first = try #require(try sandbox.archive.snapshots().first)

        // Reopen the archive each time, as a new process without caches would.
        var archive = try sandbox.reopened()
        try sandbox.root.write("d5/f50", "as it is now\n")
        var second = first
        let save = try CostTests.counts(archive) {
            second = try CostTests.capture("d5/f50", of: sandbox, in: archive)
        }
        let height = try CostTests.height(of: second, in: archive)
        #expect(height == 3)
        #expect(save.nodesWritten == height)
        #expect(save.blocksWritten == 2, "one of the nodes and one of the snapshot")
        #expect(save.synchronizations == 2, "the snapshot is written after the nodes are durable")
        #expect(
            save.transactions == 2, "its own segment is added first: the other archive object holds the existing one")
        #expect(save.blocksRead <= height && save.lookups <= 4 * height)

        // Nodes that were just read or written are cached.
        try sandbox.root.write("d5/f50", "as it is later\n")
        let next = try CostTests.counts(archive) {
            _ = try CostTests.capture("d5/f50", of: sandbox, in: archive)
        }
        #expect(next.nodesWritten == height && next.blocksWritten == 2)
        #expect(next.synchronizations == 2 && next.transactions == 1)
        #expect(next.blocksRead <= 1 && next.lookups <= 4 * height)

        archive = try sandbox.reopened()
        let diff = try CostTests.counts(archive) {
            var paths: [String] = []
            try archive.differences(from: first, to: second) { difference in
                paths.append(difference.path.description)
                return true
            }
            #expect(paths == ["d5/f50"])
        }
        #expect(diff.blocksRead <= height && diff.lookups <= 3 * height)

        archive = try sandbox.reopened()
        let entry = try CostTests.counts(archive) {
            _ = try archive.entry(at: RelativePath.at("d5/f50"), in: first)
        }
        #expect(entry.blocksRead <= height && entry.lookups <= height)

        // The first capture came a moment after the last directory was filled. An entry whose time was not settled then
        // gets its signature with the next snapshot that scans it; after that, all entries have one.
        try sandbox.root.write("d6/f60", "as it is later\n")
        try sandbox.capture()

        // The whole tree is compared with the directory, but no more is written.
        try sandbox.root.write("d7/f70", "as it is later\n")
        archive = try sandbox.reopened()
        let whole = try CostTests.counts(archive) { _ = try archive.capture(sandbox.root.directory) }
        // Nodes whose bases have different depths do not share a block.
        #expect(whole.nodesWritten == height && whole.blocksWritten <= height + 1)
        #expect(whole.synchronizations == 2 && whole.transactions <= 2)

        archive = try sandbox.reopened()
        let nothing = try CostTests.counts(archive) {
            let found = try archive.capture(sandbox.root.directory).snapshot
            #expect(found == nil)
        }
        #expect(nothing.blocksWritten == 0 && nothing.synchronizations == 0 && nothing.transactions == 0)
        #expect(diff.blocksWritten + entry.blocksWritten == 0 && diff.transactions + entry.transactions == 0)
    }

    @Test("opening and listing an archive read no block, with any number of snapshots")
    func openingAndListing() throws {
        let sandbox = try Sandbox()
        for number in 0..<20 {
            try sandbox.root.write("file", "\(number)")
            try sandbox.capture(label: "\(number)")
        }
        let archive = try sandbox.reopened()
        #expect(archive.store.counters.counts.segmentsScanned == 0)
        #expect(try archive.snapshots().count == 20)
        #expect(try archive.gapsBetweenSnapshots().isEmpty)
        #expect(try archive.snapshot("7").label == "7")
        #expect(try archive.snapshot("latest~3").label == "16")
        let counts = archive.store.counters.counts
        #expect(counts.blocksRead == 0 && counts.lookups == 0)
        #expect(counts.blocksWritten == 0 && counts.synchronizations == 0)
    }

    @Test("a capture opens only files that may have changed, and a restore only files that differ")
    func openedFiles() throws {
        let sandbox = try Sandbox()
        let names = (0..<100).map { "f\($0)" }
        for name in names { try sandbox.root.write(FilePath(name), "\(name), " + String(repeating: "x", count: 9_000)) }
        let first = try sandbox.capture()
        let opened = try OpenedFiles(in: sandbox.root.directory)

        #expect(try sandbox.archive.capture(sandbox.root.directory).snapshot == nil)
        #expect(opened.take().isEmpty)

        let changed = ["f3", "f42", "f99"]
        for name in changed { try sandbox.root.append(FilePath(name), Array("more".utf8)) }
        _ = opened.take()
        try sandbox.capture()
        #expect(Set(opened.take()) == Set(changed))

        let result = try sandbox.archive.restore(first)
        #expect(result.warnings.isEmpty)
        let restored = opened.take()
        // One temporary file for each file that differs; these files themselves may be opened before.
        #expect(restored.count { !names.contains($0) } == changed.count)
        #expect(Set(restored).intersection(names).isSubset(of: changed))
        #expect(try sandbox.archive.capture(sandbox.root.directory).snapshot == nil)
        #expect(Set(opened.take()).isSubset(of: changed))
    }
}
