// Kind of damage × place × what happens next.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Damage in a segment", .blocking)
struct DamageTests {
    /// A part of the middle block or of its segment.
    enum Place: CaseIterable {
        case segmentMagic, segmentChecksum
        case blockMagic, headerLength, baseID, chunkTable, headerChecksum, payload
        case index, trailer

        /// Whether reading the middle chunk meets the damage.
        var touchesMiddle: Bool {
            switch self {
            case .segmentMagic, .segmentChecksum, .index, .trailer: false
            default: true
            }
        }

        /// Its offset in a segment of `length` bytes whose middle block, with one base, starts at `offset`.
        func offset(_ offset: Int, _ header: BlockHeader, _ length: Int) -> Int {
            switch self {
            case .segmentMagic: 2
            case .segmentChecksum: 61
            case .blockMagic: offset + 1
            case .headerLength: offset + 4
            case .baseID: offset + 20
            case .chunkTable: offset + header.headerLength - 20
            case .headerChecksum: offset + header.headerLength - 1
            case .payload: offset + header.headerLength + header.storedLength / 2
            case .index: length - 64 - 20
            case .trailer: length - 30
            }
        }
    }

    /// A sealed segment of three snapshots, the middle one with a delta, and a fourth snapshot in the next segment.
    private struct Archive {
        let directory: TemporaryDirectory
        let before: Commit
        let middle: RawChunk
        let after: Commit
        let later: Commit
        let segment: FilePath
        let middleOffset: Int
        let middleHeader: BlockHeader

        var path: FilePath { directory.path }
        var healthy: [ChunkID: [UInt8]] {
            before.chunks.merging(after.chunks) { $1 }.merging(later.chunks) { $1 }
        }

        init() throws {
            directory = try TemporaryDirectory()
            let path = directory.path
            try ArchiveCreationTests.makeArchive(at: path, segmentBytes: 4_000)
            let store = try ArchiveStore.open(path, creating: false)
            var random = SeededGenerator(seed: 7)
            let base = random.text(500)
            before = try store.commit(1, [base])
            middle = RawChunk(kind: .content, bytes: base + Array("and its end".utf8))
            let writer = try store.beginCommit()
            var encoder = try BlockEncoder(level: 9)
            let baseChunk = try #require(try store.base(ChunkID(hashing: base)))
            #expect(try writer.claim(middle.id))
            try writer.append(encoder.encode([middle], bases: [baseChunk]))
            let snapshot = Snapshot(
                time: Timestamp(seconds: 2), rootPath: [0x2F], host: "", cause: .watch, tree: middle.id,
                totals: Totals(), changes: ChangeCounts(), storedBytes: 0)
            _ = try writer.commit(snapshot, base: nil)
            after = try store.commit(3, [random.noise(4_000)])
            later = try store.commit(4, [random.noise(100)])
            let location = try #require(try store.catalogue.location(of: middle.id))
            segment = store.segments.path(of: try #require(try store.catalogue.segment(location.segment)).path)
            middleOffset = location.offset
            middleHeader = try Segment(LocalSegment(at: EnclosedPath(file: segment))).blockHeader(at: middleOffset)
            #expect(middleHeader.bases == [ChunkPrefix(baseChunk.id)])
            #expect(try store.catalogue.segments().map(\.isSealed) == [true, false])
        }

        func open() throws -> ArchiveStore { try ArchiveStore.open(path, creating: false) }
    }

    @Test("a damaged byte makes only the reads that need it fail, and the error names it", arguments: Place.allCases)
    func flip(place: Place) throws {
        let archive = try Archive()
        let length = try archive.segment.readFile().count
        try archive.segment.flipByte(at: place.offset(archive.middleOffset, archive.middleHeader, length))
        let store = try archive.open()
        for (id, bytes) in archive.healthy { #expect(try store.read(id) == bytes) }
        let error = try failure { try store.read(archive.middle.id) }
        #expect((error != nil) == place.touchesMiddle)
        if let error {
            #expect(error.code == .damaged)
            #expect(error.path == archive.segment)
            #expect(error.message.contains("byte \(archive.middleOffset) "))
            #expect(error.remedy != nil)
        }
        #expect(try (store.base(archive.middle.id) == nil) == place.touchesMiddle)
    }

    @Test("a rebuilt catalogue reports damage, skips it and lists everything after it", arguments: Place.allCases)
    func rebuild(place: Place) throws {
        let archive = try Archive()
        let length = try archive.segment.readFile().count
        try archive.segment.flipByte(at: place.offset(archive.middleOffset, archive.middleHeader, length))
        let summary = try ArchiveStore.rebuildCatalogue(of: archive.path)
        // A rebuild reads neither payloads nor the index of a sealed segment.
        let isSeen = place != .payload && place != .index
        #expect(!summary.damage.isEmpty == isSeen || place == .trailer, "\(summary.damage)")
        let store = try archive.open()
        #expect(try store.holds(archive.before))
        #expect(try store.holds(archive.after))
        #expect(try store.holds(archive.later))
        #expect(try store.catalogue.snapshots().count == 4)
        let error = try failure { try store.read(archive.middle.id) }
        #expect((error != nil) == place.touchesMiddle)
        #expect(error?.code ?? .damaged == .damaged)
        let next = try store.commit(5, [Array("goes on".utf8)])
        #expect(try store.holds(next))
        #expect(try archive.open().holds(next))
    }

    @Test("a deleted segment loses only its own chunks, and they can be stored again")
    func deleted() throws {
        let archive = try Archive()
        try archive.segment.removeFile()
        let store = try archive.open()
        #expect(try store.holds(archive.later))
        let error = try #require(try failure { try store.read(archive.middle.id) })
        #expect(error.code == .damaged)
        #expect(error.message.contains(archive.middle.id.hex))
        #expect(try failure { try store.snapshot(archive.before.id) }?.code == .damaged)
        let again = try store.commit(6, archive.before.chunks.values.map { $0 } + [archive.middle.bytes])
        #expect(try store.holds(again))
        #expect(try store.read(archive.middle.id) == archive.middle.bytes)
    }

    @Test("the error for a segment deleted while the archive is open names the segment")
    func deletedWhileOpen() throws {
        let archive = try Archive()
        let store = try archive.open()
        try archive.segment.removeFile()
        let error = try #require(try failure { try store.read(archive.middle.id) })
        #expect(error.code == .damaged)
        #expect(error.path == archive.segment)
        #expect(try store.holds(archive.later))
    }

    @Test("a truncated segment is readable up to the cut", arguments: [true, false])
    func truncated(isRebuilt: Bool) throws {
        let archive = try Archive()
        let bytes = try archive.segment.readFile()
        try archive.segment.writeFile(Array(bytes.prefix(archive.middleOffset + 50)))
        if isRebuilt { _ = try ArchiveStore.rebuildCatalogue(of: archive.path) }
        let store = try archive.open()
        #expect(try store.holds(archive.before) && store.holds(archive.later))
        let error = try #require(try failure { try store.read(archive.middle.id) })
        #expect(error.code == .damaged)
        #expect(try store.holds(store.commit(6, [archive.middle.bytes + [1]])))
    }

    @Test("an open segment that lost its indexed end is indexed again, and lost chunks are stored again")
    func shortenedOpenSegment() throws {
        let directory = try TemporaryDirectory()
        let first = try ArchiveStore.open(directory.path, creating: true).commit(1, [Array("first".utf8)])
        let segment = try onlySegment(in: directory.path)
        let length = try segment.readFile().count
        let second = try ArchiveStore.open(directory.path, creating: false).commit(2, [Array("second".utf8)])
        try segment.writeFile(Array(segment.readFile().prefix(length + 3)))
        let store = try ArchiveStore.open(directory.path, creating: false)
        #expect(try store.holds(first))
        #expect(try failure { try store.snapshot(second.id) }?.code == .damaged)
        let again = try store.commit(2, [Array("second".utf8)])
        #expect(try store.holds(again) && store.holds(second))
    }
}
