// The cost of history queries: it depends on the answer, not on the number of snapshots.

import ArchiveFormat
import ArchiveStorage
import Capturing
import FileIO
import Roots
import SnapshotTree
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit

@Suite("Cost of history queries", .blocking) struct HistoryCostTests {
    /// The place of each version of the file, in percent of the snapshots.
    private static let versions = [0, 7, 20, 41, 66, 80, 97]

    /// A root with `count` snapshots that exist only in the archive.
    ///
    /// Each changes one of many files; seven of them also change the file `d/seven`.
    private static func sandbox(snapshots count: Int) throws -> Sandbox {
        let sandbox = try Sandbox()
        let store = sandbox.archive.store
        var parent: ListedSnapshot?
        for number in 0..<count {
            let commit = try store.beginCommit()
            let writer = NodeWriter(store, commit: commit, level: 1)
            var editor = try TreeEditor(base: parent?.tree, source: sandbox.archive.nodes, sink: writer)
            var edits: [Entry] = []
            if parent == nil {
                edits.append(try entry("", 0, .directory))
                edits.append(try entry("d", 0, .directory))
                for file in 0..<200 { edits.append(try entry("d/f\(1000 + file)", 0)) }
            } else {
                edits.append(try entry("d/f\(1000 + number % 200)", number))
            }
            if versions.contains(where: { $0 * count / 100 == number }) { edits.append(try entry("d/seven", number)) }
            var changes = PathChanges()
            for new in edits {
                let tree = parent.map { Tree($0.tree, in: sandbox.archive.nodes) }
                changes.add(try tree?.entry(at: new.path), new)
                try editor.apply(.put(new))
            }
            let tree = try editor.finish()
            try writer.flush()
            let snapshot = Snapshot(
                time: Timestamp(seconds: 1_000_000 + Int64(number) * 60), rootPath: sandbox.root.directory.bytes,
                host: "host", cause: .watch, parent: parent?.id, tree: tree, totals: Totals(files: 201),
                changes: ChangeCounts(modified: 1), storedBytes: 1, sequence: UInt64(number) + 1, machine: Machine.id)
            parent = try commit.commit(
                snapshot, base: nil, changes: parent == nil ? [] : changes.linked(isNext: true, contents: nil))
        }
        return sandbox
    }

    private static func entry(_ path: FilePath, _ number: Int, _ kind: FileKind = .file) throws -> Entry {
        Entry(
            path: try .at(path), kind: kind, permissions: 0o755, modified: Timestamp(seconds: Int64(number)),
            content: kind == .file ? .inline(Array("\(path) \(number)".utf8)) : .none)
    }

    private static func counts(
        _ sandbox: Sandbox, _ body: (Archive, ArchivedRoot) throws -> Void
    ) throws -> StorageCounters.Counts {
        let archive = try sandbox.reopened()
        let root = try #require(try archive.roots().first)
        let before = archive.store.counters.counts
        try body(archive, root)
        return archive.store.counters.counts - before
    }

    @Test("the log of a file with seven versions reads as much in 100 as in 3,000 snapshots")
    func logReadsItsAnswer() throws {
        var costs: [StorageCounters.Counts] = []
        for count in [100, 3_000] {
            let sandbox = try HistoryCostTests.sandbox(snapshots: count)
            let log = try HistoryCostTests.counts(sandbox) { archive, root in
                let versions = try archive.history(of: .at("d/seven"), in: root)
                #expect(
                    versions.map(\.snapshot.sequence)
                        == HistoryCostTests.versions.map {
                            UInt64($0 * count / 100 + 1)
                        }.reversed())
                #expect(versions.last?.change == .added)
            }
            #expect(log.changesRead == 6, "the first version is in the first snapshot's tree")
            #expect(log.transactions == 0, "the commits recorded their changes")
            costs.append(log)

            let newest = try HistoryCostTests.counts(sandbox) { archive, root in
                let versions = try archive.history(of: .at("d/seven"), in: root, HistoryQuery(limit: 2))
                #expect(versions.count == 2)
            }
            #expect(newest.changesRead == 2)
            #expect(newest.blocksRead == 0, "no tree is read")

            let sessions = try HistoryCostTests.counts(sandbox) { archive, root in
                #expect(try archive.sessions(of: root, limit: 1).first?.snapshots == count, "a snapshot a minute")
                let latest = try archive.snapshot(.latest, of: root)
                let start = try archive.snapshot("latest~5", of: root)
                #expect(try archive.changes(in: root, after: start, through: latest).count == 5)
                #expect(try archive.deletedPaths(in: root).isEmpty)
            }
            #expect(sessions.blocksRead == 0 && sessions.changesRead <= 6)
        }
        #expect(costs[0].changesRead == costs[1].changesRead)
        #expect(costs[0].blocksRead == costs[1].blocksRead)
        #expect(costs[0].lookups == costs[1].lookups)
    }

    @Test("find, and the log of a directory with -n, read names instead of versions")
    func namesAndNotVersions() throws {
        var finds: [StorageCounters.Counts] = []
        for count in [300, 1_500] {
            let sandbox = try HistoryCostTests.sandbox(snapshots: count)
            let find = try HistoryCostTests.counts(sandbox) { archive, root in
                let names = try archive.names(matching: Array("f1001".utf8), in: root)
                #expect(names.map(\.versionCount) == [(count - 2) / 200 + 2])
                #expect(try archive.names(matching: Array("seven".utf8), in: root).map(\.versionCount) == [7])
            }
            #expect(find.changesRead == 4, "the first and the last change of each")
            #expect(find.snapshotsRead <= 12)
            finds.append(find)
            for directory in ["", "d"] {
                let log = try HistoryCostTests.counts(sandbox) { archive, root in
                    let query = HistoryQuery(limit: 5)
                    let versions = try archive.history(ofDirectory: .at(FilePath(directory)), in: root, query)
                    #expect(versions.map(\.snapshot.sequence) == (0..<5).map { UInt64(count - $0) })
                }
                #expect(log.changesRead <= (directory.isEmpty ? 10 : 420), "at most two changes for each of 201 names")
                #expect(log.blocksRead == 0 && log.snapshotsRead <= 6)
            }
        }
        #expect(finds[0].namesRead == finds[1].namesRead && finds[0].snapshotsRead == finds[1].snapshotsRead)
        #expect(finds[0].blocksRead == finds[1].blocksRead)
    }

    @Test("deleted reads one row per answer, among any number of changes")
    func deletedReadsItsAnswers() throws {
        let sandbox = try Sandbox()
        for file in 0..<20 { try sandbox.root.write("f\(file)", "\(file)") }
        try sandbox.capture()
        for step in 0..<40 {
            try sandbox.root.write("f\(step % 17)", "step \(step)")
            if step % 20 == 5 { try sandbox.root.remove("f\(17 + step / 20)") }
            try sandbox.capture()
        }
        let cost = try HistoryCostTests.counts(sandbox) { archive, root in
            let deleted = try archive.deletedPaths(in: root).map(\.path)
            #expect(try deleted == [.at("f18"), .at("f17")])
        }
        #expect(cost.changesRead == 2 && cost.blocksRead == 0 && cost.transactions == 0)
    }

    @Test("grep reads each block once")
    func grepReadsBlocksOnce() throws {
        let sandbox = try Sandbox()
        var random = SeededGenerator("grep reads each block once")
        for file in 0..<4 { try sandbox.root.write("f\(file)", "") }
        for step in 0..<30 {
            for file in 0..<4 where step == 0 || random.oneIn(2) {
                try sandbox.root.append("f\(file)", Array("\nline \(step)\n".utf8) + random.text(3000))
            }
            try sandbox.root.write("always", "\(step)")
            try sandbox.capture()
        }
        let archive = sandbox.archive
        let written = archive.store.counters.counts.blocksWritten
        let cost = try HistoryCostTests.counts(sandbox) { archive, root in
            let found = try archive.lines(matching: LineQuery(Array("^line".utf8)), in: root)
            #expect(found.lines.count > 40 && found.unreadable.isEmpty)
        }
        #expect(cost.blocksRead <= written, "there are \(written) blocks")
    }

    @Test("after the catalogue was rebuilt, the newest history of a root compares only the newest snapshots")
    func newestHistoryOfUnindexedRoot() throws {
        let sandbox = try HistoryCostTests.sandbox(snapshots: 60)
        try sandbox.archive.store.catalogue.forgetHistory()
        let cost = try HistoryCostTests.counts(sandbox) { archive, root in
            #expect(try archive.unknownHistoryCount(of: root) == 60)
            let versions = try archive.history(ofDirectory: .root, in: root, HistoryQuery(limit: 5))
            #expect(versions.map(\.snapshot.sequence) == [60, 59, 58, 57, 56])
            #expect(try archive.unknownHistoryCount(of: root) == 50, "twice as many as are wanted")
            let all = try archive.history(ofDirectory: .root, in: root, HistoryQuery(limit: 100))
            #expect(all.map(\.snapshot.sequence) == (1...60).map { UInt64($0) }.reversed())
            #expect(try archive.unknownHistoryCount(of: root) == 0)
        }
        #expect(cost.transactions > 0)
    }

    @Test("what was not read since the last release of memory is no longer cached")
    func releasedMemory() throws {
        let sandbox = try HistoryCostTests.sandbox(snapshots: 3)
        let archive = try sandbox.reopened()
        let root = try #require(try archive.roots().first)
        let latest = try archive.snapshot(.latest, of: root)
        /// The blocks that are read to read a file's entry.
        func read() throws -> UInt64 {
            let before = archive.store.counters.counts
            #expect(try archive.entry(at: .at("d/f1001"), in: latest) != nil)
            return UInt64((archive.store.counters.counts - before).blocksRead)
        }
        #expect(try read() > 0)
        #expect(try read() == 0)
        archive.releaseUnusedMemory()
        #expect(try read() == 0, "it was used")
        for _ in 0..<2 { archive.releaseUnusedMemory() }
        #expect(try read() > 0)
    }
}
