// Blocks of later programs: unknown codecs, keys and fields hide what they hold, and nothing else.

import ArchiveFormat
import ArchiveStorage
import Compression
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Blocks of later programs", .blocking)
struct LaterBlockTests {
    /// What a later program did to a block.
    enum Change: CaseIterable, Sendable {
        case codec, longCodec, key, fields

        func applied(to header: BlockHeader) -> BlockHeader {
            func later(_ codec: Codec, key: Int = 0, fields: [UInt8] = []) -> BlockHeader {
                BlockHeader(
                    codec: codec, depth: header.depth, storedLength: header.storedLength,
                    payloadChecksum: header.payloadChecksum, bases: header.bases, chunks: header.chunks, keyID: key,
                    laterFields: fields)
            }
            return switch self {
            case .codec: later(.later(2))
            case .longCodec: later(.later(1_000))
            case .key: later(header.codec, key: 7)
            case .fields: later(header.codec, fields: [1, 2, 3])
            }
        }
    }

    /// An archive with two snapshots, to which a block is appended as by a later program.
    private struct Scene {
        let directory: TemporaryDirectory
        let commits: [Commit]
        let segment: FilePath

        init() throws {
            directory = try TemporaryDirectory(inMemory: true)
            let store = try ArchiveStore.open(directory.path, creating: true)
            let first = try store.commit(1, [[1, 2, 3]])
            commits = [first, try store.commit(2, [[4, 5, 6]])]
            segment = directory.path.appending("segments").pushing(
                FilePath(try #require(try store.catalogue.segments().first).path))
        }

        func open() throws -> ArchiveStore { try ArchiveStore.open(directory.path, creating: false) }

        func append(_ header: BlockHeader, _ payload: [UInt8]) throws {
            let bytes = try segment.readFile()
            let place = try Segment(LocalSegment(at: EnclosedPath(file: segment))).place(bytes.count)
            try segment.writeFile(bytes + header.encoded(at: place) + payload)
        }

        func append(_ chunk: RawChunk, _ change: Change) throws {
            var encoder = try BlockEncoder(level: 1)
            let block = try encoder.encode([chunk])
            try append(change.applied(to: block.header), block.payload)
        }

        /// A third snapshot.
        func third() -> RawChunk {
            var snapshot = commits[1].snapshot
            snapshot.sequence += 1
            snapshot.label = "hidden"
            return RawChunk(kind: .snapshot, bytes: snapshot.encoded())
        }
    }

    @Test(
        "a record in an unknown codec or with a key is named, everything else is listed, and nothing can be added",
        arguments: Change.allCases)
    func hiddenRecord(change: Change) throws {
        let scene = try Scene()
        let hidden = scene.third()
        try scene.append(hidden, change)
        let gap = RawChunk(kind: .gap, bytes: GapRecord.sample(5).encoded())
        try scene.append(gap, change)
        let bytes = try scene.segment.readFile()
        for _ in 0..<2 {
            let store = try scene.open()
            for commit in scene.commits { #expect(try store.holds(commit)) }
            #expect(try store.catalogue.snapshots().map(\.id) == scene.commits.map(\.id))
            let unreadable = store.findings.filter { $0.kind == .unreadable }
            #expect(unreadable.count == 2, "\(store.findings)")
            let lost = store.findings.filter { $0.kind == .lostSnapshot }
            #expect(lost.count == 1 && lost[0].message.contains(SnapshotID(hidden.id).short), "\(store.findings)")
            #expect(try failure { try store.commit(3, [[9]]) }?.code == .newerFormat)
            #expect(try failure { try Reclaimer(store) }?.code == .newerFormat)
            #expect(try failure { try store.read(hidden.id) }?.code == .newerFormat)
        }
        #expect(try scene.segment.readFile() == bytes)
        #expect(try failure { try ArchiveStore.rebuildCatalogue(of: scene.directory.path) }?.code == .newerFormat)
    }

    @Test("a block that hides its table is named, and nothing can be added")
    func hiddenTable() throws {
        let scene = try Scene()
        let payload = Array("a table and a payload, encrypted".utf8)
        let header = BlockHeader(
            codec: .stored, depth: 0, storedLength: payload.count,
            payloadChecksum: payload.withUnsafeBytes { crc32($0) }, bases: [], chunks: [], keyID: 3)
        try scene.append(header, payload)
        let store = try scene.open()
        for commit in scene.commits { #expect(try store.holds(commit)) }
        #expect(store.findings.contains { $0.kind == .unreadable && $0.message.contains("key 3") })
        #expect(try failure { try store.commit(3, [[9]]) }?.code == .newerFormat)
    }

    @Test("content in an unknown codec is kept by a prune", arguments: Change.allCases)
    func hiddenContent(change: Change) throws {
        let scene = try Scene()
        let content = RawChunk(kind: .content, bytes: Array("only a later program can read this".utf8))
        try scene.append(content, change)
        let store = try scene.open()
        #expect(store.findings.isEmpty)
        let third = try store.commit(3, [[7]])
        store.releaseWriters()
        let old = try #require(try store.catalogue.location(of: content.id))
        var options = Reclaimer.Options()
        options.leastShare = 0
        let live = Array(scene.commits[1].chunks.keys) + Array(third.chunks.keys) + [content.id, third.id.chunk]
        let result = try Reclaimer(store, options).run { set in for id in live { set.insert(id) } }
        #expect(result.dropped == 1 && result.damaged.isEmpty, "\(result)")
        let new = try #require(try store.catalogue.location(of: content.id))
        #expect(new.segment != old.segment)
        #expect(try store.blockHeader(at: new).obstacle != nil)
    }
}
