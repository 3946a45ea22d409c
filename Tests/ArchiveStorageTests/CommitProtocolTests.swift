// The commit protocol under a crash at every byte: a snapshot exists if and only if its block is complete.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Commits and crashes", .blocking)
struct CommitProtocolTests {
    /// The state of the catalogue after the crash.
    enum CatalogueState: CaseIterable {
        /// It has all but the last commit.
        case before
        case missing
    }

    /// An archive of two commits, and a place to put damaged copies of it.
    private struct Scene {
        let directory: TemporaryDirectory
        let first: Commit
        let second: Commit
        let segment: FilePath
        /// The segment after both commits.
        let bytes: [UInt8]
        /// Where the second commit begins.
        let start: Int
        private let catalogue: [UInt8]

        init() throws {
            directory = try TemporaryDirectory(inMemory: true)
            let path = directory.path
            let catalogueFile = path.appending("catalogue.sqlite")
            first = try ArchiveStore.open(path, creating: true).commit(1, [Array("one".utf8), Array("uno".utf8)])
            catalogue = try catalogueFile.readFile()
            segment = try onlySegment(in: path)
            start = try segment.readFile().count
            second = try ArchiveStore.open(path, creating: false)
                .commit(2, [Array("two".utf8), Array("due, due, due, due, due".utf8)], parent: first)
            bytes = try segment.readFile()
        }

        /// Restores the state after a crash: `bytes` in the segment, and the catalogue in `state`.
        func crash(_ bytes: [UInt8], _ state: CatalogueState) throws {
            try segment.writeFile(bytes)
            let file = directory.path.appending("catalogue.sqlite")
            for journal in ["-wal", "-shm"] { try? FilePath(file.string + journal).removeFile() }
            switch state {
            case .before: try file.writeFile(catalogue)
            case .missing: try? file.removeFile()
            }
        }

        func open() throws -> ArchiveStore { try ArchiveStore.open(directory.path, creating: false) }
    }

    @Test("a commit that is cut off at any byte does not exist", arguments: CatalogueState.allCases)
    func cuts(state: CatalogueState) throws {
        let scene = try Scene()
        let range = scene.start...scene.bytes.count
        // Every run tries each byte of this protocol, on which all records rely, with one of the catalogues.
        for length in state == .before ? Array(range) : range.sampled {
            try scene.crash(Array(scene.bytes.prefix(length)), state)
            let isWhole = length == scene.bytes.count
            var store = try scene.open()
            #expect(try store.holds(scene.first), "cut at \(length)")
            #expect(try store.catalogue.hasSnapshot(scene.second.id) == isWhole, "cut at \(length)")
            if isWhole { #expect(try store.holds(scene.second)) }
            let known = try #require(try store.catalogue.segments().first).indexedLength
            #expect(try scene.segment.readFile() == Array(scene.bytes.prefix(known)), "the torn tail at \(length)")
            #expect(known <= length)
            if length % 8 == 0 || isWhole {
                let next = try store.commit(3, [Array("two".utf8), Array("three".utf8)], parent: scene.first)
                #expect(try onlySegment(in: scene.directory.path) == scene.segment)
                store = try scene.open()
                #expect(try store.holds(scene.first) && store.holds(next), "after a cut at \(length)")
            }
        }
    }

    @Test(
        "a wrong byte in the unindexed part loses only its block",
        arguments: CatalogueState.allCases)
    func garbage(state: CatalogueState) throws {
        let scene = try Scene()
        let snapshotStart = scene.bytes.count - (try snapshotBlockLength(scene))
        for offset in (scene.start..<scene.bytes.count).sampled {
            var bytes = scene.bytes
            bytes[offset] ^= 0x01
            try scene.crash(bytes, state)
            let store = try scene.open()
            #expect(try store.holds(scene.first), "flip at \(offset)")
            #expect(try store.catalogue.hasSnapshot(scene.second.id) == (offset < snapshotStart), "flip at \(offset)")
            if offset % 8 != 0 { continue }
            // Everything can be committed again, whatever was lost.
            let again = try store.commit(2, scene.second.chunks.values.map { $0 }, parent: scene.first)
            #expect(try store.holds(again), "after a flip at \(offset)")
            for (id, chunk) in scene.second.chunks where try store.catalogue.location(of: id) != nil {
                #expect(try store.read(id) == chunk, "after a flip at \(offset)")
            }
        }
    }

    @Test(
        "parts of a commit that a power failure interrupted are no damage, and new commits work",
        arguments: CatalogueState.allCases)
    func unfinished(state: CatalogueState) throws {
        let scene = try Scene()
        let snapshotStart = scene.bytes.count - (try snapshotBlockLength(scene))
        let bytes = Array(scene.bytes.prefix(snapshotStart))
        try scene.crash(bytes, state)
        let blocks = try SegmentScan(
            of: Segment(LocalSegment(at: EnclosedPath(file: scene.segment))), from: scene.start,
            verifyingPayloads: true,
            passingDamage: false)
        let last = try #require(blocks.chunks.map(\.offset).max())
        #expect(last > scene.start)
        for offset in (scene.start..<last).sampled {
            var torn = bytes
            torn[offset] ^= 0x01
            try scene.crash(torn, state)
            let store = try scene.open()
            #expect(try store.catalogue.damage().isEmpty, "a torn write at \(offset)")
            #expect(try store.holds(scene.first) && !store.catalogue.hasSnapshot(scene.second.id))
            #expect(try scene.segment.readFile() == torn)
            if offset % 8 != 0 { continue }
            let again = try store.commit(2, scene.second.chunks.values.map { $0 }, parent: scene.first)
            #expect(try store.holds(again), "after a torn write at \(offset)")
        }
    }

    private func snapshotBlockLength(_ scene: Scene) throws -> Int {
        try scene.crash(scene.bytes, .missing)
        let store = try scene.open()
        let location = try #require(try store.catalogue.location(of: scene.second.id.chunk))
        return scene.bytes.count - location.offset
    }

    @Test("a commit becomes visible to all readers when it returns, and not before")
    func visibility() throws {
        let directory = try TemporaryDirectory()
        let store = try ArchiveStore.open(directory.path, creating: true)
        let other = try ArchiveStore.open(directory.path, creating: false)
        let writer = try store.beginCommit()
        let chunk = RawChunk(kind: .node, bytes: Node.leaf([]).encoded())
        var encoder = try BlockEncoder(level: 6)
        #expect(try writer.claim(chunk.id))
        try writer.append(encoder.encode([chunk]))
        #expect(try other.catalogue.snapshots().isEmpty)
        let snapshot = Snapshot(
            time: Timestamp(seconds: 5), rootPath: [0x2F], host: "", cause: .watch, tree: chunk.id, totals: Totals(),
            changes: ChangeCounts(), storedBytes: 0)
        let record = try writer.commit(snapshot, base: nil)
        #expect(try other.catalogue.snapshots() == [record])
        #expect(try other.read(chunk.id) == chunk.bytes)
    }

    @Test("an abandoned commit is rolled back, and new commits work")
    func abandon() throws {
        let directory = try TemporaryDirectory()
        let store = try ArchiveStore.open(directory.path, creating: true)
        let first = try store.commit(1, [Array("kept".utf8)])
        let segment = try onlySegment(in: directory.path)
        let before = try segment.readFile()
        let writer = try store.beginCommit()
        let chunk = RawChunk(kind: .content, bytes: Array("given up".utf8))
        var encoder = try BlockEncoder(level: 6)
        #expect(try writer.claim(chunk.id))
        try writer.append(encoder.encode([chunk]))
        #expect(try segment.readFile().count > before.count)
        writer.abandon()
        #expect(try segment.readFile() == before)
        #expect(try store.catalogue.location(of: chunk.id) == nil)
        let second = try store.commit(2, [chunk.bytes])
        #expect(try store.holds(first) && store.holds(second))
        #expect(try onlySegment(in: directory.path) == segment)
    }

    @Test("indexed blocks stay if sealing their segment fails")
    func failedSealing() throws {
        let directory = try TemporaryDirectory()
        try ArchiveCreationTests.makeArchive(at: directory.path, segmentBytes: 3_000)
        let store = try ArchiveStore.open(directory.path, creating: false)
        let writer = try store.beginCommit()
        var encoder = try BlockEncoder(level: 1)
        var random = SeededGenerator()
        let chunks = (0..<2).map { _ in RawChunk(kind: .content, bytes: random.noise(2_000)) }
        for chunk in chunks { #expect(try writer.claim(chunk.id)) }
        let segment = try onlySegment(in: directory.path)
        let start = try segment.readFile().count
        try writer.append(encoder.encode([chunks[0]]))
        // The footer is made from the block headers on disk.
        var bytes = try segment.readFile()
        bytes[start] ^= 0xFF
        let file = try Descriptor.open(segment, O_WRONLY)
        try bytes.withUnsafeBytes { try file.write($0, at: 0, path: segment) }
        try writer.append(encoder.encode([chunks[1]]))
        try writer.commitChunks()
        let length = try segment.readFile().count
        #expect(try store.catalogue.segments().map(\.indexedLength).max() == length && length > start)
        #expect(try store.read(chunks[1].id) == chunks[1].bytes)
    }

    @Test("each id is claimed by exactly one of many threads, also while chunks are being indexed")
    func claims() throws {
        let directory = try TemporaryDirectory()
        let store = try ArchiveStore.open(directory.path, creating: true)
        let old = try store.commit(1, (0..<50).map { Array("old \($0)".utf8) })
        let writer = try store.beginCommit()
        // More chunks than one step holds.
        let chunks = (0..<70_000).map { RawChunk(kind: .content, bytes: Array("new \($0)".utf8)) }
        let taken = try onThreads(4) { thread in
            var random = SeededGenerator(seed: UInt64(thread))
            var encoder = try BlockEncoder(level: 1)
            var taken: [ChunkID] = []
            var batch: [RawChunk] = []
            for chunk in chunks.shuffled(using: &random) {
                guard try writer.claim(chunk.id) else { continue }
                taken.append(chunk.id)
                batch.append(chunk)
                if batch.count < 256 { continue }
                try writer.append(encoder.encode(batch))
                batch = []
            }
            if !batch.isEmpty { try writer.append(encoder.encode(batch)) }
            return try taken + old.chunks.keys.filter { try writer.claim($0) }
        }.flatMap { $0 }
        #expect(taken.count == chunks.count)
        #expect(Set(taken) == Set(chunks.map(\.id)))
        writer.abandon()
        // Chunks that were indexed before the end stay.
        let kept = try chunks.filter { try store.catalogue.location(of: $0.id) != nil }
        #expect(kept.count > 60_000)
        for chunk in kept.prefix(500) { #expect(try store.read(chunk.id) == chunk.bytes) }
    }
}
