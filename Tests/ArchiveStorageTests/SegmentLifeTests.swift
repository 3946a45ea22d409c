// The life of a segment: created by a writer, left, taken over by another, sealed, and never changed again.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Segment life cycle", .blocking)
struct SegmentLifeTests {
    /// The properties of a sealed segment that must not change.
    private struct Print: Equatable {
        let hash: ChunkID
        let modified: Date?

        init(_ path: FilePath) throws {
            hash = ChunkID(hashing: try path.readFile())
            modified = try FileManager.default.attributesOfItem(atPath: path.string)[.modificationDate] as? Date
        }
    }

    private func sealed(_ store: ArchiveStore) throws -> [FilePath] {
        try store.catalogue.segments().filter(\.isSealed).map { store.segments.path(of: $0.path) }
    }

    @Test("a segment is sealed at 64 MiB in the middle of a commit, and all chunks are readable")
    func sealing() throws {
        let directory = try TemporaryDirectory()
        var random = SeededGenerator()
        let contents = (0..<70).map { _ in random.noise(1 << 20) }
        let commit: Commit
        let first: FilePath
        let print: Print
        do {
            let store = try ArchiveStore.open(directory.path, creating: true)
            commit = try store.commit(1, contents)
            #expect(try store.holds(commit))
            #expect(try store.catalogue.segments().map(\.isSealed) == [true, false])
            first = try #require(try sealed(store).first)
            print = try Print(first)
        }
        let length = try first.readFile().count
        let footer = try #require(try Segment(LocalSegment(at: EnclosedPath(file: first))).trailer())
        #expect((64 << 20...66 << 20).contains(footer.indexOffset))
        #expect(footer.indexOffset + footer.indexLength + SegmentFooter.trailerByteCount == length)
        let store = try ArchiveStore.open(directory.path, creating: false)
        #expect(try store.holds(commit))
        let next = try store.commit(2, [random.noise(5000)])
        #expect(try store.holds(next))
        #expect(try store.catalogue.segments().count == 2)
        #expect(try Print(first) == print)
    }

    @Test("a footer lists every block of its segment, and sealed segments never change")
    func footers() throws {
        let directory = try TemporaryDirectory()
        try ArchiveCreationTests.makeArchive(at: directory.path, segmentBytes: 3_000)
        var random = SeededGenerator()
        var prints: [FilePath: Print] = [:]
        var commits: [Commit] = []
        for number in 0..<12 {
            let store = try ArchiveStore.open(directory.path, creating: false)
            commits.append(try store.commit(number, [random.noise(900), random.noise(10)], parent: commits.last))
            for path in try sealed(store) where prints[path] == nil { prints[path] = try Print(path) }
        }
        let store = try ArchiveStore.open(directory.path, creating: false)
        #expect(try sealed(store).count > 3)
        #expect(try Set(sealed(store)) == Set(prints.keys))
        for commit in commits { #expect(try store.holds(commit)) }
        for (path, print) in prints {
            #expect(try Print(path) == print)
            let bytes = try path.readFile()
            let segment = try Segment(LocalSegment(at: EnclosedPath(file: path)))
            let footer = try #require(try segment.trailer())
            let blocks = try #require(try segment.index())
            #expect(try segment.isAsSealed() == true)
            var hash = SegmentHash()
            hash.update(bytes.dropLast(40))
            #expect(hash.finish() == footer.segmentHash)
            let scan = try SegmentScan(
                of: segment, from: SegmentHeader.byteCount, verifyingPayloads: true, passingDamage: false)
            #expect(scan.isSealed && scan.tornTail == nil && scan.damage.isEmpty)
            #expect(blocks.map(\.offset) == Array(Set(scan.chunks.map(\.offset))).sorted())
            for block in blocks {
                #expect(try segment.blockHeader(at: block.offset) == block.header)
            }
        }
    }

    @Test(
        "the index of a sealed segment lists its chunks even if no block is readable, and the hash reveals the damage")
    func indexAlone() throws {
        let directory = try TemporaryDirectory(inMemory: true)
        try ArchiveCreationTests.makeArchive(at: directory.path, segmentBytes: 820)
        var random = SeededGenerator()
        let commit = try ArchiveStore.open(directory.path, creating: false).commit(1, [random.noise(200)])
        let path = try onlySegment(in: directory.path)
        let index = try #require(try Segment(LocalSegment(at: EnclosedPath(file: path))).index())
        let chunks = Set(index.dropFirst().flatMap { $0.header.chunks.map(\.id) })
        #expect(chunks == Set(commit.chunks.keys).union([commit.id.chunk]))
        var bytes = try path.readFile()
        let end = try #require(try Segment(LocalSegment(at: EnclosedPath(file: path))).trailer()).indexOffset
        bytes.replaceSubrange(SegmentHeader.byteCount..<end, with: [UInt8](repeating: 0, count: end - 64))
        try path.writeFile(bytes)
        let damaged = try Segment(LocalSegment(at: EnclosedPath(file: path)))
        #expect(try damaged.index() == index)
        #expect(try damaged.isAsSealed() == false)
        bytes[end + 20] ^= 1
        try path.writeFile(bytes)
        #expect(try failure { try Segment(LocalSegment(at: EnclosedPath(file: path))).index() }?.code == .damaged)
    }

    @Test("a footer cut off at any byte is removed, and the segment is sealed again")
    func tornFooter() throws {
        let directory = try TemporaryDirectory(inMemory: true)
        try ArchiveCreationTests.makeArchive(at: directory.path, segmentBytes: 820)
        var random = SeededGenerator()
        let commit = try ArchiveStore.open(directory.path, creating: false).commit(1, [random.noise(200)])
        let path = try onlySegment(in: directory.path)
        let bytes = try path.readFile()
        let footer = try #require(try Segment(LocalSegment(at: EnclosedPath(file: path))).trailer())
        for length in (footer.indexOffset..<bytes.count).sampled {
            try path.writeFile(Array(bytes.prefix(length)))
            for suffix in ["", "-wal", "-shm"] {
                try? directory.path.appending("catalogue.sqlite" + suffix).removeFile()
            }
            let store = try ArchiveStore.open(directory.path, creating: false)
            #expect(try store.holds(commit), "cut at \(length)")
            #expect(try path.readFile().count == footer.indexOffset, "cut at \(length)")
        }
        let store = try ArchiveStore.open(directory.path, creating: false)
        let next = try store.commit(2, [random.noise(10)])
        #expect(try store.holds(commit) && store.holds(next))
        #expect(try Segment(LocalSegment(at: EnclosedPath(file: path))).trailer() != nil)
    }

    @Test(
        "a footer of several pieces is whole, and nothing of it stays if a late block is damaged",
        arguments: [false, true])
    func largeFooter(isDamaged: Bool) throws {
        let directory = try TemporaryDirectory(inMemory: true)
        try ArchiveCreationTests.makeArchive(at: directory.path, segmentBytes: 16 << 20)
        var random = SeededGenerator()
        let store = try ArchiveStore.open(directory.path, creating: false)
        let commit = try store.commit(1, (0..<60_000).map { _ in random.noise(12) })
        let path = try onlySegment(in: directory.path)
        let end = try path.readFile().count
        let offsets = try commit.chunks.keys.compactMap { try store.catalogue.location(of: $0)?.offset }
        let last = try #require(offsets.max())
        store.releaseWriters()
        let segment = try #require(try store.catalogue.segments().first)
        if isDamaged { try path.flipByte(at: last + 8) }
        #expect(try store.seal(segment))
        if isDamaged {
            #expect(try path.readFile().count == end)
            #expect(try store.catalogue.damage().contains { $0.contains("is not sealed") })
        } else {
            let file = try Segment(LocalSegment(at: EnclosedPath(file: path)))
            #expect(try #require(try file.trailer()).indexLength > 2 << 20)
            #expect(try #require(try file.index()).flatMap(\.header.chunks).count > 60_000)
            #expect(try file.isAsSealed() == true)
        }
    }

    @Test("two writers append to different segments, and each sees all commits afterwards")
    func twoWriters() throws {
        let directory = try TemporaryDirectory()
        let stores = [
            try ArchiveStore.open(directory.path, creating: true),
            try ArchiveStore.open(directory.path, creating: false),
        ]
        // Both have begun before either ends.
        let held = try stores.map { try $0.beginCommit() }
        #expect(try directory.path.appending("segments").filesBelow().count == 2)
        for writer in held { writer.abandon() }
        let commits = try onThreads(2) { index in
            try (0..<25).map { number in
                let contents = ["shared \(number)", "of \(index), \(number)"].map { Array($0.utf8) }
                return try stores[index].commit(100 * index + number, contents)
            }
        }.flatMap { $0 }
        #expect(try directory.path.appending("segments").filesBelow().count == 2)
        for store in stores + [try ArchiveStore.open(directory.path, creating: false)] {
            #expect(try store.catalogue.snapshots().count == 50)
            for commit in commits { #expect(try store.holds(commit)) }
        }
    }

    @Test("opening an archive never removes segments that other writers are creating")
    func beginnings() throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let store = try ArchiveStore.open(directory.path, creating: true)
        let results = try onThreads(2) { thread in
            if thread == 1 {
                for _ in 0..<200 { _ = try ArchiveStore.open(directory.path, creating: false) }
                return [Commit]()
            }
            // All earlier commits are still held, so each commit creates a segment.
            var holders: [CommitWriter] = []
            var commits: [Commit] = []
            for number in 0..<100 {
                holders.append(try store.beginCommit())
                commits.append(try store.commit(number, [Array("\(number)".utf8)]))
            }
            for holder in holders { holder.abandon() }
            return commits
        }
        let reopened = try ArchiveStore.open(directory.path, creating: false)
        for commit in results[0] { #expect(try reopened.holds(commit)) }
    }

    @Test("any copy of a chunk that two writers stored works as a base")
    func copies() throws {
        let directory = try TemporaryDirectory()
        var random = SeededGenerator()
        let old = RawChunk(kind: .content, bytes: random.text(3000))
        let shared = RawChunk(kind: .content, bytes: old.bytes + random.text(20))
        let top = RawChunk(kind: .content, bytes: shared.bytes + random.text(20))
        do {
            let first = try ArchiveStore.open(directory.path, creating: true)
            let second = try ArchiveStore.open(directory.path, creating: false)
            var encoder = try BlockEncoder(level: 9)
            let early = try first.beginCommit()
            let late = try second.beginCommit()
            // Both store the shared chunk: the first writer against an older one, the second without a base.
            #expect(try early.claim(old.id) && early.claim(shared.id) && late.claim(shared.id) && late.claim(top.id))
            let oldBase = BaseChunk(id: old.id, bytes: old.bytes, depth: 0)
            try late.append(encoder.encode([shared]))
            let sharedBase = BaseChunk(id: shared.id, bytes: shared.bytes, depth: 0)
            try late.append(encoder.encode([top], bases: [sharedBase]))
            try end(late)
            try early.append(encoder.encode([old]))
            try early.append(encoder.encode([shared], bases: [oldBase]))
            try end(early)
            for chunk in [old, shared, top] { #expect(try first.read(chunk.id) == chunk.bytes) }
        }
        // Now the copy in the older segment is found first.
        _ = try ArchiveStore.rebuildCatalogue(of: directory.path)
        let store = try ArchiveStore.open(directory.path, creating: false)
        for chunk in [top, shared, old] { #expect(try store.read(chunk.id) == chunk.bytes) }
    }

    private func end(_ writer: CommitWriter) throws {
        let snapshot = Snapshot(
            time: Timestamp(seconds: 1), rootPath: [0x2F], host: "", cause: .watch, tree: ChunkID(hashing: [0xa0]),
            totals: Totals(), changes: ChangeCounts(), storedBytes: 0)
        _ = try writer.commit(snapshot, base: nil)
    }

    @Test("a new writer continues the newest segment that has no writer")
    func takeOver() throws {
        let directory = try TemporaryDirectory()
        var commits: [Commit] = []
        for number in 0..<5 {
            let store = try ArchiveStore.open(directory.path, creating: true)
            commits.append(try store.commit(number, [Array("\(number)".utf8)]))
        }
        let segment = try onlySegment(in: directory.path)
        // While one store holds the segment, another creates a new one, which is then the newest.
        let holder = try ArchiveStore.open(directory.path, creating: false)
        commits.append(try holder.commit(5, [Array("5".utf8)]))
        #expect(try onlySegment(in: directory.path) == segment)
        do {
            let other = try ArchiveStore.open(directory.path, creating: false)
            commits.append(try other.commit(6, [Array("6".utf8)]))
        }
        let before = try segment.readFile()
        let third = try ArchiveStore.open(directory.path, creating: false)
        commits.append(try third.commit(7, [Array("7".utf8)]))
        #expect(try directory.path.appending("segments").filesBelow().count == 2)
        #expect(try segment.readFile() == before)
        for commit in commits { #expect(try third.holds(commit)) }
    }

    @Test("a segment with a damaged header is left unsealed, the damage is recorded, and commits go on in a new one")
    func damagedHeader() throws {
        let directory = try TemporaryDirectory(inMemory: true)
        try ArchiveCreationTests.makeArchive(at: directory.path, segmentBytes: 3_000)
        var random = SeededGenerator()
        let store = try ArchiveStore.open(directory.path, creating: false)
        let first = try store.commit(1, [random.noise(200)])
        let path = try onlySegment(in: directory.path)
        try path.flipByte(at: path.afterOpening() + 8)
        // Many full segments in one commit: they are sealed while it continues.
        let second = try store.commit(2, (0..<12).map { _ in random.noise(900) })
        #expect(try store.holds(second))
        #expect(try Segment(LocalSegment(at: EnclosedPath(file: path))).trailer() == nil)
        #expect(try store.catalogue.damage().contains { $0.contains("is not sealed") })
        store.releaseWriters()
        let third = try store.commit(3, [random.noise(10)])
        #expect(try store.holds(third) && store.catalogue.hasSnapshot(first.id))
        let length = try path.readFile().count
        store.releaseWriters()
        _ = try store.commit(4, [random.noise(10)])
        #expect(try path.readFile().count == length)
    }
}
