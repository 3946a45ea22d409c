// Opening an archive after a crash, a copy or foreign changes: nothing valid is cut off, and damage is reported.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Recovery", .blocking)
struct RecoveryTests {
    /// An archive of seven snapshots whose catalogue has only the first.
    private struct Scene {
        let directory: TemporaryDirectory
        let commits: [Commit]
        /// The segment's length after each commit.
        let lengths: [Int]
        let segment: FilePath

        init() throws {
            directory = try TemporaryDirectory(inMemory: true)
            let path = directory.path
            var random = SeededGenerator(seed: 11)
            var commits = [try ArchiveStore.open(path, creating: true).commit(0, [random.noise(500)])]
            let segment = try onlySegment(in: path)
            var lengths = [try segment.readFile().count]
            let catalogue = try path.appending("catalogue.sqlite").readFile()
            for number in 1..<7 {
                commits.append(try ArchiveStore.open(path, creating: false).commit(number, [random.noise(500)]))
                lengths.append(try segment.readFile().count)
            }
            self.commits = commits
            self.lengths = lengths
            self.segment = segment
            for journal in ["-wal", "-shm"] { try? path.appending("catalogue.sqlite" + journal).removeFile() }
            try path.appending("catalogue.sqlite").writeFile(catalogue)
        }

        func open() throws -> ArchiveStore { try ArchiveStore.open(directory.path, creating: false) }
    }

    @Test("an older catalogue and a wrong byte in the unindexed part lose only the damaged block")
    func olderCatalogue() throws {
        let scene = try Scene()
        // In the content of the second commit.
        try scene.segment.flipByte(at: scene.lengths[0] + 200)
        let bytes = try scene.segment.readFile()
        let store = try scene.open()
        #expect(try store.catalogue.snapshots().count == 7)
        for (number, commit) in scene.commits.enumerated() where number != 1 { #expect(try store.holds(commit)) }
        #expect(try scene.segment.readFile() == bytes)
        #expect(store.findings.map(\.kind) == [.damage])
        #expect(store.findings.first?.message.contains("byte \(scene.lengths[0]) of") == true)
        // Nothing is appended to that segment any more, and the next opening reports the damage again.
        let next = try store.commit(8, [Array("next".utf8)])
        #expect(try scene.segment.readFile() == bytes)
        let again = try scene.open()
        #expect(try again.holds(next))
        #expect(again.findings.map(\.kind) == [.damage])
    }

    /// Each false header says that it has 2.4 MB, so reading all of them would take 4 TB.
    @Test("the search for blocks after damage does a bounded work, and cuts off nothing that it has not searched")
    func falseHeaders() throws {
        let scene = try Scene()
        let header = BlockHeader.magic + [0x80, 0xbe, 0x92, 0x01]
        let junk = [[UInt8]](repeating: header, count: (16 << 20) / header.count).flatMap { $0 }
        let bytes = try scene.segment.readFile() + junk
        try scene.segment.writeFile(bytes)
        let scan = try SegmentScan(
            of: Segment(LocalSegment(at: EnclosedPath(file: scene.segment))), from: SegmentHeader.byteCount,
            verifyingPayloads: true, passingDamage: true)
        let bound = SegmentScan.leastSearchBytes + SegmentScan.searchFactor * bytes.count
        #expect(scan.searchedBytes < bound + (3 << 20) && scan.unsearched?.offset == scene.lengths[6])
        let store = try scene.open()
        #expect(try scene.segment.readFile().count == bytes.count)
        #expect(store.findings.contains { $0.kind == .damage && $0.message.contains("is not searched") })
        let next = try store.commit(8, [Array("next".utf8)])
        #expect(try scene.segment.readFile().count == bytes.count && store.holds(next))
    }

    @Test("a torn tail is cut off and saved, and that is reported once")
    func salvage() throws {
        let scene = try Scene()
        let whole = try scene.segment.readFile()
        try scene.segment.writeFile(Array(whole.dropLast(5)))
        let store = try scene.open()
        let cut = try scene.segment.readFile()
        #expect(cut.count < whole.count - 5)
        #expect(try store.catalogue.snapshots().count == 6)
        let finding = try #require(store.findings.first)
        #expect(store.findings.count == 1 && finding.kind == .cut)
        let name = "\(try #require(scene.segment.lastComponent).string).\(cut.count)"
        let kept = scene.directory.path.appending("salvage").appending(name)
        #expect(finding.message.contains(kept.string))
        #expect(try kept.readFile() == Array(whole[cut.count...].dropLast(5)))
        #expect(try scene.open().findings.isEmpty)
    }

    @Test("a torn tail with a hole of 8 TiB is cut off quickly", .timeLimit(.minutes(60)))
    func hole() throws {
        let directory = try TemporaryDirectory()
        let commit = try ArchiveStore.open(directory.path, creating: true).commit(1, [Array("one".utf8)])
        let segment = try onlySegment(in: directory.path)
        let length = try segment.readFile().count
        Catalogue.delete(at: directory.path.appending("catalogue.sqlite"))
        if truncate(segment.string, 8 << 40) != 0 { try #require(truncate(segment.string, 8 << 30) == 0) }
        let store = try ArchiveStore.open(directory.path, creating: false)
        #expect(try store.holds(commit))
        #expect(try segment.readFile().count == length)
        #expect(store.findings.map(\.kind) == [.cut])
    }

    @Test("opening the archive detects a sealed segment that was shortened", arguments: [1, 100, 1_500])
    func shortened(by count: Int) throws {
        let directory = try TemporaryDirectory()
        try ArchiveCreationTests.makeArchive(at: directory.path, segmentBytes: 4_000)
        var random = SeededGenerator(seed: 12)
        var commits: [Commit] = []
        do {
            let store = try ArchiveStore.open(directory.path, creating: false)
            for number in 0..<5 { commits.append(try store.commit(number, [random.noise(2_000)])) }
            #expect(try #require(try store.catalogue.segments().first).isSealed)
        }
        let files = try directory.path.appending("segments").filesBelow()
        let segment = directory.path.appending("segments").pushing(FilePath(try #require(files.first)))
        let bytes = Array(try segment.readFile().dropLast(count))
        try segment.writeFile(bytes)
        let store = try ArchiveStore.open(directory.path, creating: false)
        #expect(store.findings.first?.message.contains("has lost its end") == true)
        #expect(try store.holds(commits[0]) && store.holds(commits[4]))
        #expect(try segment.readFile() == bytes)
        #expect(try ArchiveStore.open(directory.path, creating: false).findings.count == 1)
    }

    @Test("every opening reports unreadable segments, and files below segments that are no segments")
    func unread() throws {
        let scene = try Scene()
        let folder = scene.segment.removingLastComponent()
        let bytes = try scene.segment.readFile()
        try folder.appending("copy of a segment").writeFile(bytes)
        try folder.appending("20200101T000000.000000Z-00000000000000000000000000000002.segment").makeDirectory()
        mkfifo(folder.appending("20200101T000000.000000Z-00000000000000000000000000000003.segment").string, 0o600)
        for _ in 0..<2 {
            let store = try scene.open()
            for commit in scene.commits { #expect(try store.holds(commit)) }
            #expect(store.findings.map(\.kind) == [.unread, .unread, .stranger], "\(store.findings)")
            #expect(store.findings.contains { $0.message.contains("copy of a segment") })
            #expect(store.findings.contains { $0.message.contains("FIFO") })
        }
    }

    @Test("a catalogue with foreign tables is rebuilt", arguments: ["view", "column", "trigger"])
    func foreignTables(what: String) throws {
        let scene = try Scene()
        let catalogue = scene.directory.path.appending("catalogue.sqlite")
        let endless = """
            CREATE VIEW segment AS WITH RECURSIVE r(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM r)
            SELECT id, 'a' || id AS path, x'' AS name, 0 AS indexedLength, 1 AS state FROM r
            """
        let sql =
            switch what {
            case "view": "DROP TABLE segment; \(endless)"
            case "column": "ALTER TABLE segment ADD COLUMN other"
            default: "CREATE TRIGGER t AFTER INSERT ON segment BEGIN DELETE FROM chunk; END"
            }
        try execute(sql, in: catalogue)
        let store = try scene.open()
        for commit in scene.commits { #expect(try store.holds(commit)) }
        #expect(store.findings.isEmpty)
    }

    private func execute(_ sql: String, in database: FilePath) throws {
        let command = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.commit()"
        #expect(try ChildProcess.run(["python3", "-c", command, database.string, sql]).status == 0)
    }

    @Test("a commit into a removed segment fails, and the next one uses another segment")
    func removedSegment() throws {
        let directory = try TemporaryDirectory()
        let store = try ArchiveStore.open(directory.path, creating: true)
        _ = try store.commit(1, [Array("one".utf8)])
        try onlySegment(in: directory.path).removeFile()
        let error = try #require(try failure { try store.commit(2, [Array("two".utf8)]) })
        #expect(error.code == .noArchive && error.message.contains("was removed or replaced"))
        let next = try store.commit(3, [Array("three".utf8)])
        #expect(try store.holds(next))
        #expect(try ArchiveStore.open(directory.path, creating: false).holds(next))
    }

    @Test("nothing is created at the path of an archive that was moved away")
    func removedArchive() throws {
        let directory = try TemporaryDirectory()
        let place = directory.path.appending("mounted")
        let store = try ArchiveStore.open(place, creating: true)
        _ = try store.commit(1, [Array("one".utf8)])
        rename(place.string, directory.path.appending("elsewhere").string)
        try place.makeDirectory()
        for number in 2..<4 {
            #expect(try failure { try store.commit(number, [Array("two".utf8)]) }?.code == .noArchive)
        }
        #expect(try place.filesBelow().isEmpty)
    }

    @Test("a snapshot with the greatest allowed number is listed, and one with a greater number is refused")
    func greatestNumbers() throws {
        let directory = try TemporaryDirectory()
        let store = try ArchiveStore.open(directory.path, creating: true)
        let writer = try store.beginCommit()
        var snapshot = Snapshot(
            time: Timestamp(seconds: 1), rootPath: [0x2F], host: "", cause: .watch,
            tree: ChunkID(hashing: [1]), totals: Totals(), changes: ChangeCounts(), storedBytes: .max)
        #expect(throws: StorageError.self) { _ = try writer.commit(snapshot, base: nil) }
        snapshot.storedBytes = UInt64(Int64.max)
        _ = try writer.commit(snapshot, base: nil)
        #expect(try store.catalogue.snapshots().count == 1)
    }

    @Test("an opening process that is stopped makes others fail with its name instead of waiting for ever")
    func stoppedOpening() throws {
        let scene = try Scene()
        let lock = scene.directory.path.appending("locks").appending("open.lock")
        let process = try ChildProcess(
            ["flock", "--no-fork", lock.string, "sh", "-c", "echo ready; kill -STOP $$"])
        _ = try process.line { $0 == "ready" }
        let error = try #require(try failure { try scene.open() })
        #expect(error.code == .inUse && error.message.contains("\(process.id)"), "\(error)")
        #expect(error.message.contains("is stopped"), "\(error)")
        process.send(SIGKILL)
        #expect(try process.finish().status == -SIGKILL)
        #expect(throws: Never.self) { _ = try scene.open() }
    }
}
