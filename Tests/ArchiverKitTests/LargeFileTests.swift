// The cost of changes in large files: proportional to the changed bytes, not to the chunks around them.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing
import Threading

@testable import ArchiverKit
@testable import Capturing
@testable import Restoring
@testable import SnapshotTree

@Suite("Changes of large files", .blocking) struct LargeFileTests {
    private static let page = 4096

    /// Changes pages of a file of noise repeatedly, and expects each snapshot to store little more than the pages.
    @Test(
        "ten changed pages in a file of noise take at most four times their size per snapshot",
        arguments: [1_500_000, 24_000_000])
    func randomPages(bytes count: Int) throws {
        var random = SeededGenerator()
        print("pages: seed \(random.seed)")
        let sandbox = try Sandbox()
        var bytes = random.noise(count)
        try sandbox.root.write("database", bytes)
        var snapshots = [try sandbox.capture()]
        var states = [bytes]
        for _ in 0..<6 {
            for _ in 0..<10 {
                let start = random.below(count / LargeFileTests.page) * LargeFileTests.page
                bytes.replaceSubrange(
                    start..<(start + LargeFileTests.page), with: random.noise(LargeFileTests.page))
            }
            try sandbox.root.write("database", bytes)
            snapshots.append(try sandbox.capture())
            states.append(bytes)
        }
        for snapshot in snapshots.dropFirst() {
            #expect(snapshot.storedBytes < UInt64(4 * 10 * LargeFileTests.page))
        }
        let archive = try sandbox.reopened()
        for (snapshot, state) in zip(snapshots, states) {
            let entry = try #require(try archive.entry(at: .at("database"), in: snapshot))
            var read: [UInt8] = []
            try archive.forEachPiece(of: entry) { piece in
                read += piece
                return true
            }
            #expect(read == state)
        }
    }

    @Test("pages that change constantly take at most four times their size in the long run")
    func manyRounds() throws {
        var random = SeededGenerator()
        print("pages, again and again: seed \(random.seed)")
        let sandbox = try Sandbox()
        let count = 1_500_000
        var bytes = random.noise(count)
        try sandbox.root.write("database", bytes)
        try sandbox.capture()
        // More rounds than a delta chain may have links, so that chunks are stored in full again.
        let rounds = 40
        var stored: UInt64 = 0
        for _ in 0..<rounds {
            for _ in 0..<10 {
                let start = random.below(count / LargeFileTests.page) * LargeFileTests.page
                bytes.replaceSubrange(
                    start..<(start + LargeFileTests.page), with: random.noise(LargeFileTests.page))
            }
            try sandbox.root.write("database", bytes)
            stored += try sandbox.capture().storedBytes
        }
        print("pages, again and again: \(stored / UInt64(rounds)) bytes a snapshot")
        #expect(stored < UInt64(rounds * 4 * 10 * LargeFileTests.page))
        let target = sandbox.base.directory.appending("restored")
        _ = try sandbox.archive.restore(sandbox.archive.snapshot(.latest), RestoreOptions(target: target))
        #expect(try Files(target).read("database") == bytes)
    }

    @Test("an insertion does not hide the changed pages after it")
    func insertionAndPages() throws {
        // A fixed seed: with another, the insertion may hit the longest chunks, which costs more.
        var random = SeededGenerator(seed: 21)
        let sandbox = try Sandbox()
        var bytes = random.noise(8_000_000)
        try sandbox.root.write("image", bytes)
        try sandbox.capture()
        bytes.insert(contentsOf: random.noise(300_000), at: 1_000_000)
        for index in 0..<8 {
            let start = 2_000_000 + index * 700_000
            bytes.replaceSubrange(start..<(start + 100), with: random.noise(100))
        }
        try sandbox.root.write("image", bytes)
        let stored = try sandbox.capture().storedBytes
        #expect(stored < 600_000, "\(stored); the eight chunks alone hold a million")
    }
}

@Suite("Large files, which are read ahead", .blocking) struct ReadAheadTests {
    @Test("several large files are restored and read byte for byte, and their holes stay holes")
    func wholeFiles() throws {
        var random = SeededGenerator("files that are read ahead")
        #expect(FileRestorer.largeBytes < 9 << 20)
        let sandbox = try Sandbox()
        // Noise at these offsets in megabytes.
        let files = ["dense": [0, 2, 4, 6, 8, 10], "sparse": [0, 10, 12, 50], "late": [20, 22, 24]]
        try sandbox.expectRoundTrip { root in
            for (name, starts) in files {
                for start in starts { try root.write(FilePath(name), random.noise(2 << 20), at: start << 20) }
            }
            try root.write("early", random.noise(9 << 20))
            try root.setSize("early", 40 << 20)
        }
        let archive = try sandbox.reopened()
        let snapshot = try archive.snapshot(.latest)
        for name in files.keys + ["early"] {
            let entry = try #require(try archive.entry(at: .at(FilePath(name)), in: snapshot))
            var read: [UInt8] = []
            try archive.forEachPiece(of: entry) { piece in
                read += piece
                return true
            }
            #expect(try read == sandbox.root.read(FilePath(name)), "\(name)")
            var count = 0
            try archive.forEachPiece(of: entry) { piece in
                count += piece.count
                return count < 3 << 20
            }
            #expect(count < 4 << 20, "\(name): the reader had enough")
        }
    }

    @Test("damage in the middle of a large file is reported, nothing is left of the file, and the others are restored")
    func damage() throws {
        var random = SeededGenerator("damage in a file that is read ahead")
        let sandbox = try Sandbox()
        for name in ["a", "b", "c"] { try sandbox.root.write(FilePath(name), random.noise(12 << 20)) }
        let snapshot = try sandbox.capture()
        let entry = try #require(try sandbox.archive.entry(at: .at("b"), in: snapshot))
        guard case .sliceLists(let lists) = entry.content else { throw FormatError.malformed("\(entry.content)") }
        let slices = try lists.flatMap { try ContentReader.slices(in: $0, of: sandbox.archive.store) }
        let chunk = try #require(slices[slices.count / 2].chunk)
        try HealingTests.damage(sandbox.archive.directory, .payload) { $0.chunks.contains { $0.id == chunk } }
        let archive = try sandbox.reopened()
        let target = sandbox.base.full("target")
        let result = try archive.restore(snapshot, RestoreOptions(target: target))
        #expect(result.hasDamage && result.warnings.count == 1, "\(result.warnings)")
        #expect(try Files(target).names().sorted() == ["a", "c"])
        for name in ["a", "c"] as [FilePath] { #expect(try Files(target).read(name) == sandbox.root.read(name)) }
        ArchiverError.expect(.damaged) { try archive.forEachPiece(of: entry) { _ in true } }
    }
}

@Suite("Reading parts of files", .blocking) struct FileRangeTests {
    /// A file with many lists of short slices and holes, and its content.
    private func scene(_ sandbox: Sandbox) throws -> (entry: Entry, bytes: [UInt8]) {
        let writer = try sandbox.archive.store.beginCommit()
        var encoder = try BlockEncoder(level: 1)
        func add(_ kind: ChunkKind, _ bytes: [UInt8]) throws -> ChunkID {
            let chunk = RawChunk(kind: kind, bytes: bytes)
            if try writer.claim(chunk.id) { try writer.append(encoder.encode([chunk])) }
            return chunk.id
        }
        var content: [UInt8] = []
        var lists: [ListedSlices] = []
        for list in 0..<20 {
            var slices = [Slice(length: 7, chunk: nil)]
            content += [UInt8](repeating: 0, count: 7)
            for number in 0..<10 {
                let bytes = Array("list \(list), piece \(number)".utf8)
                content += bytes
                slices.append(Slice(length: UInt64(bytes.count), chunk: try add(.content, bytes)))
            }
            let whole = SliceList(slices: slices)
            lists.append(ListedSlices(length: whole.length, list: try add(.sliceList, whole.encoded())))
        }
        try writer.commitChunks()
        let entry = Entry(
            path: try .at("file"), kind: .file, permissions: 0o644, modified: Timestamp(seconds: 0),
            content: .sliceLists(lists))
        return (entry, content)
    }

    @Test("a read in the middle of a large file reads one slice list and the chunks in its range")
    func middle() throws {
        let sandbox = try Sandbox()
        let (entry, bytes) = try scene(sandbox)
        #expect(entry.size == UInt64(bytes.count))
        let start = try #require(bytes.firstRange(of: Array("list 13, piece 4".utf8))?.lowerBound)
        let archive = try sandbox.reopened()
        let before = archive.store.counters.counts
        #expect(
            try archive.read(entry, range: UInt64(start + 2)..<UInt64(start + 9)) == Array(bytes[start + 2..<start + 9])
        )
        #expect((archive.store.counters.counts - before).blocksRead == 2)
    }

    @Test("reading any range of a file returns its bytes")
    func ranges() throws {
        let sandbox = try Sandbox()
        let (large, bytes) = try scene(sandbox)
        var random = SeededGenerator()
        let small = Entry(
            path: large.path, kind: .file, permissions: 0o644, modified: large.modified,
            content: .inline(Array(bytes.prefix(50))))
        for (entry, bytes) in [(large, bytes), (small, Array(bytes.prefix(50)))] {
            for _ in 0..<200 {
                let start = random.below(bytes.count + 10)
                let end = start + random.below(random.oneIn(2) ? 20 : bytes.count)
                let expected = Array(bytes.dropFirst(start).prefix(end - start))
                let read = try sandbox.archive.read(entry, range: UInt64(start)..<UInt64(end))
                #expect(read == expected, "TEST_SEED=\(random.seed): \(start)..<\(end)")
            }
            #expect(try sandbox.archive.read(entry, range: 0..<UInt64.max) == bytes)
        }
    }
}

@Suite("The old version beside the new one", .blocking) struct OldVersionTests {
    private static func chunk(_ number: Int) -> ChunkID { ChunkID(hashing: Array("\(number)".utf8)) }
    private static func slices(_ numbers: Range<Int>) -> [Slice] {
        numbers.map { Slice(length: 100, chunk: chunk($0)) }
    }

    @Test("bases are the chunks at the same place, also after several new chunks, an insertion and a deletion")
    func places() throws {
        var old = OldVersion(.slices(OldVersionTests.slices(0..<16))) { _ in nil }
        #expect(try old.bases(for: 100) == [OldVersionTests.chunk(0)])
        for new in 100..<103 { old.pass(OldVersionTests.chunk(new), length: 100) }
        // Either three were changed, or an insertion has split the first.
        #expect(try old.bases(for: 100) == [0, 3].map(OldVersionTests.chunk))
        #expect(try old.bases(for: 150) == [0, 3, 4].map(OldVersionTests.chunk))
        // Common chunks again, as if nothing had been inserted; then those after a deletion.
        old.pass(OldVersionTests.chunk(1), length: 100)
        #expect(try old.bases(for: 100) == [OldVersionTests.chunk(2)])
        old.pass(OldVersionTests.chunk(9), length: 100)
        #expect(try old.bases(for: 100) == [OldVersionTests.chunk(10)])
        old.passHole(200)
        #expect(try old.bases(for: 100) == [10, 12].map(OldVersionTests.chunk))
        for new in 200..<210 { old.pass(OldVersionTests.chunk(new), length: 100) }
        #expect(try old.bases(for: 100) == [10].map(OldVersionTests.chunk))
        old.pass(OldVersionTests.chunk(15), length: 100)
        #expect(try old.bases(for: 100) == [OldVersionTests.chunk(15)], "appended bytes are compared with the end")
    }

    @Test("only a few of many lists are held, and each is read once")
    func lists() throws {
        let count = 40
        let ids = (0..<count).map { OldVersionTests.chunk(10_000 + $0) }
        let read = Locked([ChunkID]())
        let content = Content.sliceLists(ids.map { ListedSlices(length: 5_000, list: $0) })
        var old = OldVersion(content) { list in
            read.withLock { $0.append(list.list) }
            let number = ids.firstIndex(of: list.list) ?? 0
            return OldVersionTests.slices(number * 50..<(number + 1) * 50)
        }
        for number in 0..<count * 50 {
            #expect(try old.bases(for: 100).last == OldVersionTests.chunk(number))
            if number % 50 == 49 { #expect(old.takeLists().last == ids[number / 50]) }
            old.pass(OldVersionTests.chunk(number % 3 == 0 ? 100_000 + number : number), length: 100)
        }
        #expect(read.withLock { $0 } == ids)
    }

    @Test("an unreadable list and impossible lengths only reduce the bases")
    func damage() throws {
        var old = OldVersion(.sliceLists([ListedSlices(length: 9, list: OldVersionTests.chunk(1))])) { _ in nil }
        #expect(try old.bases(for: 100) == [])
        old.pass(OldVersionTests.chunk(5), length: 100)
        #expect(try old.bases(for: 100) == [])
        #expect(old.takeLists() == [])

        let lie = [Slice(length: .max, chunk: OldVersionTests.chunk(1)), Slice(length: 8, chunk: nil)]
        var other = OldVersion(.slices(lie)) { _ in nil }
        #expect(try other.bases(for: 100) == [])
    }
}
