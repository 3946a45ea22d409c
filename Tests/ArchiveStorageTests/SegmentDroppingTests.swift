// Condemned and dropped segments, and the block facts that the catalogue stores.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Dropped segments", .blocking)
struct SegmentDroppingTests {
    /// Three commits, each in its own sealed segments; the last is compressed against the second.
    private struct Scene {
        let directory: TemporaryDirectory
        let commits: [Commit]
        var path: FilePath { directory.path }

        init() throws {
            directory = try TemporaryDirectory(inMemory: true)
            try ArchiveCreationTests.makeArchive(at: directory.path, segmentBytes: SegmentHeader.byteCount + 1)
            var commits: [Commit] = []
            for number in 0..<3 {
                let store = try ArchiveStore.open(directory.path, creating: false)
                let text = (0..<200).map { "line \($0) of \(number == 0 ? 0 : $0 % 50)" }.joined(separator: "\n")
                commits.append(
                    try store.commit(
                        number, [Array("\(number) \(text)".utf8)], parent: number == 2 ? commits.last : nil))
            }
            self.commits = commits
        }

        func open() throws -> ArchiveStore { try ArchiveStore.open(path, creating: false) }

        func removeCatalogue() {
            for suffix in ["", "-wal", "-shm"] {
                try? FilePath(path.appending("catalogue.sqlite").string + suffix).removeFile()
            }
        }
    }

    /// The segment with the newest copy of the chunk `id`.
    private func segment(of id: ChunkID, _ store: ArchiveStore) throws -> ListedSegment {
        let location = try #require(try store.catalogue.location(of: id))
        return try #require(try store.catalogue.segment(location.segment))
    }

    @Test("a chunk in a condemned segment stays readable, is stored again, and is not used as a base")
    func condemned() throws {
        let scene = try Scene()
        let store = try scene.open()
        let id = try #require(scene.commits[1].chunks.keys.first)
        let old = try segment(of: id, store)
        #expect(old.state == .sealed)
        #expect(try store.catalogue.holds(id) && store.base(id) != nil)
        #expect(try store.catalogue.condemn(old.number))
        #expect(try segment(of: id, store).state == .condemned)
        #expect(try !store.catalogue.holds(id) && store.base(id) == nil)
        #expect(try store.holds(scene.commits[1]))
        let writer = try store.beginCommit()
        #expect(try writer.claim(id))
        var encoder = try BlockEncoder(level: 1)
        let bytes = try #require(scene.commits[1].chunks[id])
        try writer.append(encoder.encode([RawChunk(kind: .content, bytes: bytes)]))
        try writer.commitChunks()
        #expect(try segment(of: id, store).number != old.number)
        #expect(try store.catalogue.holds(id) && store.base(id) != nil)
        #expect(try store.catalogue.uncondemn(old.number))
        #expect(try store.catalogue.segment(old.number)?.state == .sealed)
    }

    @Test("an open segment cannot be condemned, and one that is not condemned cannot be dropped")
    func order() throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let store = try ArchiveStore.open(directory.path, creating: true)
        _ = try store.commit(0, [Array("content".utf8)])
        let record = try #require(try store.catalogue.segments().first)
        #expect(try !store.catalogue.condemn(record.number))
        #expect(try failure { try store.enter(dropping: [record]) }?.remedy == "condemn it first")
    }

    @Test(
        "a dropped segment is no loss, also for a rebuilt catalogue, and a copy that reappears is not read")
    func dropped() throws {
        let scene = try Scene()
        let file: FilePath
        let bytes: [UInt8]
        do {
            let store = try scene.open()
            try store.forget([scene.commits[0].id.chunk])
            let record = try segment(of: scene.commits[0].id.chunk, store)
            file = store.segments.path(of: record.path)
            bytes = try file.readFile()
            #expect(try store.catalogue.condemn(record.number))
            try store.enter(dropping: [record])
            #expect(try store.catalogue.segment(record.number) == nil)
            #expect(try store.catalogue.location(of: scene.commits[0].id.chunk) == nil)
            #expect(try store.catalogue.isDropped(#require(record.name)))
        }
        for isThere in [false, true] {
            if isThere { try file.writeFile(bytes) } else { try file.removeFile() }
            for isNew in [false, true] {
                if isNew { scene.removeCatalogue() }
                let store = try scene.open()
                #expect(store.findings.isEmpty, "\(store.findings)")
                #expect(try store.catalogue.location(of: scene.commits[0].id.chunk) == nil)
                #expect(try store.catalogue.snapshots().map(\.id) == scene.commits[1...].map(\.id))
                #expect(try store.catalogue.droppedSegments().count == 1)
            }
        }
    }

    @Test("a missing segment that was not dropped is reported as damage")
    func lost() throws {
        let scene = try Scene()
        let file: FilePath
        do {
            let store = try scene.open()
            let record = try segment(of: scene.commits[0].id.chunk, store)
            file = store.segments.path(of: record.path)
            try store.catalogue.condemn(record.number)
        }
        try file.removeFile()
        #expect(try scene.open().findings.map(\.kind) == [.damage])
    }

    @Test("the length, depth and bases of every block are listed, also in a rebuilt catalogue")
    func blocks() throws {
        let scene = try Scene()
        var isDelta = false
        for isNew in [false, true] {
            if isNew { scene.removeCatalogue() }
            let store = try scene.open()
            for record in try store.catalogue.segments() {
                let file = try store.open(record)
                var expected: [StoredBlock] = []
                _ = try SegmentScan(
                    of: file, from: SegmentHeader.byteCount, verifyingPayloads: true, passingDamage: false
                ) { header, _ in if !header.isOpening { expected.append(StoredBlock(header)) } }
                var found: [StoredBlock] = []
                var end = try store.segments.path(of: record.path).afterOpening()
                try store.catalogue.forEachBlock(ofSegment: record.number) { location, block in
                    #expect(location.offset == end)
                    end += block.length
                    isDelta = isDelta || (block.depth > 0 && !block.bases.isEmpty)
                    found.append(block)
                }
                #expect(found == expected && !found.isEmpty)
            }
        }
        #expect(isDelta)
    }
}
