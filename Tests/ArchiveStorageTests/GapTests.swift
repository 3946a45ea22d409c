// Gaps: entering, listing, and damage to their segments.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Gaps", .blocking)
struct GapTests {
    private let directory: TemporaryDirectory
    private var path: FilePath { directory.path }

    init() throws { directory = try TemporaryDirectory(inMemory: true) }

    private func open() throws -> ArchiveStore { try ArchiveStore.open(path, creating: true) }

    @Test("gaps are listed by start with all their fields")
    func listing() throws {
        let time = Timestamp(seconds: -5, nanoseconds: 7)
        let gaps =
            [
                GapRecord(rootPath: [0x2f, 0xff], host: "", cause: .suspend, start: time, end: time, detail: ""),
                GapRecord(
                    rootPath: [], host: "é", cause: try #require(GapCause(rawValue: "later-on")),
                    start: .init(seconds: 0),
                    end: Timestamp(seconds: 253_402_300_799, nanoseconds: 999_999_999), detail: "a\u{0}b"),
            ] + (1..<20).map { GapRecord.sample($0) }
        let store = try open()
        try store.enter(gaps.reversed())
        #expect(try store.catalogue.gaps() == gaps)
        #expect(try open().catalogue.gaps() == gaps)
        for gap in gaps { #expect(try store.record(ChunkID(hashing: gap.encoded()), as: GapRecord.self) == gap) }
    }

    @Test("gaps are found by root and by overlapping time")
    func filters() throws {
        func gap(_ start: Int64, _ end: Int64, root: String = "/a") -> GapRecord {
            GapRecord(
                rootPath: Array(root.utf8), host: "host", cause: .downtime, start: Timestamp(seconds: start),
                end: Timestamp(seconds: end))
        }
        let (long, short, late, other) = (gap(0, 100), gap(10, 20), gap(50, 60), gap(30, 40, root: "/b"))
        let store = try open()
        try store.enter([late, other, short, long])
        let catalogue = store.catalogue
        let root = try #require(try catalogue.root(path: Array("/a".utf8), machine: .unknown)).number
        func found(_ root: Int64?, _ since: Int64?, _ until: Int64?) throws -> [GapRecord] {
            try catalogue.gaps(
                root: root, since: since.map { Timestamp(seconds: $0) }, until: until.map { Timestamp(seconds: $0) })
        }
        #expect(try found(nil, nil, nil) == [long, short, other, late])
        #expect(try found(root, nil, nil) == [long, short, late])
        #expect(try found(root, 21, nil) == [long, late])
        #expect(try found(root, 20, 50) == [long, short, late])
        #expect(try found(root, 61, nil) == [long])
        #expect(try found(root, nil, 9) == [long])
        #expect(try found(root, 101, nil).isEmpty && found(root, nil, -1).isEmpty)
        #expect(try found(nil, 25, 45) == [long, other])
    }

    @Test("entering the same gap again writes nothing")
    func again() throws {
        let gaps = (0..<5).map { GapRecord.sample($0) }
        let store = try open()
        try store.enter([])
        #expect(try store.catalogue.segments().isEmpty)
        try store.enter(gaps + gaps)
        let segment = try onlySegment(in: path)
        let bytes = try segment.readFile()
        for store in [store, try open()] {
            try store.enter(gaps)
            #expect(try store.catalogue.gaps() == gaps)
        }
        #expect(try segment.readFile() == bytes)
        #expect(try SegmentScan(segment).count(of: .gap) == gaps.count)
        try store.enter([.sample(5)] + gaps)
        #expect(try SegmentScan(segment).count(of: .gap) == gaps.count + 1)
    }

    @Test("a gap whose bytes are also a file's content is stored as a gap")
    func contentAlike() throws {
        let gap = GapRecord.sample(1)
        let store = try open()
        let commit = try store.commit(1, [gap.encoded()])
        #expect(try store.catalogue.gaps().isEmpty)
        try store.enter([gap])
        #expect(try SegmentScan(onlySegment(in: path)).count(of: .gap) == 1)
        #expect(try store.catalogue.gaps() == [gap] && store.holds(commit))
    }

    @Test("a root with only gaps is not listed among the roots with snapshots until it has one")
    func roots() throws {
        let store = try open()
        let path = Array("/root".utf8)
        #expect(try store.catalogue.root(path: path, machine: .unknown) == nil)
        try store.enter([.sample(0)])
        let root = try #require(try store.catalogue.root(path: path, machine: .unknown))
        #expect(try store.catalogue.roots().isEmpty)
        #expect(try store.catalogue.latestSnapshot(ofRoot: path, machine: .unknown) == nil)
        #expect(try store.catalogue.gaps(root: root.number) == [.sample(0)])
        _ = try store.commit(1, [[1]])
        #expect(try store.catalogue.roots() == [root])
    }

    @Test("sizes and numbers of snapshots match the files and records")
    func sizes() throws {
        try ArchiveCreationTests.makeArchive(at: path, segmentBytes: 3_000)
        var random = SeededGenerator()
        let store = try open()
        #expect(try store.storedBytes() == 0 && store.catalogue.count(Catalogue.SnapshotFilter()) == 0)
        var commits: [Commit] = []
        for number in 0..<6 {
            commits.append(try store.commit(number, [random.noise(900)]))
            try store.enter([.sample(number, root: "/gaps")])
        }
        let files = try path.appending("segments").filesBelow()
        #expect(files.count > 1)
        let bytes = try files.map { try path.appending("segments").pushing(FilePath($0)).readFile().count }
        #expect(try store.storedBytes() == UInt64(bytes.reduce(0, +)))
        let catalogue = store.catalogue
        let root = try #require(try catalogue.roots().first).number
        let gapRoot = try #require(try catalogue.root(path: Array("/gaps".utf8), machine: .unknown)).number
        #expect(try catalogue.count(Catalogue.SnapshotFilter()) == 6 && catalogue.count(.init(of: root)) == 6)
        #expect(try catalogue.totals(of: gapRoot, since: Timestamp(seconds: 0)).isEmpty)
        let sizes = commits.map(\.record.storedBytes)
        for (since, expected) in [
            (Timestamp(seconds: 0), sizes[0...]), (Timestamp(seconds: 4), sizes[4...]),
            (Timestamp(seconds: 4, nanoseconds: 1), sizes[5...]), (Timestamp(seconds: 6), sizes[6...]),
        ] {
            for root in [root, nil] {
                let totals = try catalogue.totals(of: root, since: since)
                #expect(totals.count == 1)
                #expect(try #require(totals.values.first) == (6, expected.reduce(0, +)), "\(since)")
            }
        }
    }

    @Test("all gaps that two writers enter are listed, each once")
    func twoWriters() throws {
        let stores = [try open(), try open()]
        let expected = (0..<60).map { GapRecord.sample($0) }
        _ = try onThreads(2) { index in
            // Every third gap is entered by both.
            for number in 0..<60 where number % 3 == 2 || number % 3 == index {
                try stores[index].enter([expected[number]])
            }
        }
        for store in stores + [try open()] { #expect(try store.catalogue.gaps() == expected) }
        #expect(try path.appending("segments").filesBelow().count == 2)
    }

    @Test("more gaps than fit into a block are entered in one commit")
    func many() throws {
        let gaps = (0..<5_000).map { GapRecord.sample($0) }
        do {
            let store = try open()
            try store.enter(gaps)
            #expect(try store.catalogue.gaps() == gaps)
        }
        let segment = try onlySegment(in: path)
        let header = try Segment(LocalSegment(at: EnclosedPath(file: segment))).blockHeader(at: segment.afterOpening())
        #expect((1..<5_000).contains(header.chunks.count) && header.rawLength <= BlockEncoder.packedBytes)
        try path.appending("catalogue.sqlite").removeFile()
        #expect(try open().catalogue.gaps() == gaps)
    }
}

extension SegmentScan {
    /// Scans the entire segment at `path`.
    fileprivate init(_ path: FilePath) throws {
        try self.init(
            of: Segment(LocalSegment(at: EnclosedPath(file: path))), from: SegmentHeader.byteCount,
            verifyingPayloads: true,
            passingDamage: false)
    }

    /// The number of records of a kind.
    fileprivate func count(of kind: ChunkKind) -> Int { records.count { $0.kind == kind } }
}

@Suite("Gaps and crashes", .blocking)
struct GapCrashTests {
    /// A segment with a snapshot, two gaps entered together, and another snapshot; and the catalogue before the gaps.
    private struct Scene {
        let directory = try? TemporaryDirectory(inMemory: true)
        let path: FilePath
        let gaps = [GapRecord.sample(1), GapRecord.sample(2, root: "/unseen")]
        let before: Commit
        let after: Commit
        let segment: FilePath
        let bytes: [UInt8]
        /// The range of the gaps' block.
        let block: Range<Int>
        private let catalogue: [UInt8]

        init() throws {
            path = try #require(directory).path
            before = try ArchiveStore.open(path, creating: true).commit(1, [Array("one".utf8)])
            catalogue = try path.appending("catalogue.sqlite").readFile()
            segment = try onlySegment(in: path)
            let start = try segment.readFile().count
            let store = try ArchiveStore.open(path, creating: false)
            try store.enter(gaps)
            block = start..<(try segment.readFile().count)
            after = try store.commit(2, [Array("two".utf8)], parent: before)
            bytes = try segment.readFile()
        }

        /// Opens the archive after a crash that left `bytes` in the segment, and the old catalogue or none.
        func crash(_ bytes: [UInt8], isCatalogueKept: Bool) throws -> ArchiveStore {
            let segments = path.appending("segments")
            for name in try segments.filesBelow() { try segments.pushing(FilePath(name)).removeFile() }
            try segment.writeFile(bytes)
            let file = path.appending("catalogue.sqlite")
            for suffix in ["", "-wal", "-shm"] { try? FilePath(file.string + suffix).removeFile() }
            if isCatalogueKept { try file.writeFile(catalogue) }
            return try ArchiveStore.open(path, creating: false)
        }
    }

    @Test("gaps whose block is cut off at any byte do not exist", arguments: [true, false])
    func cuts(isCatalogueKept: Bool) throws {
        let scene = try Scene()
        for length in (scene.block.lowerBound...scene.block.upperBound).sampled {
            let store = try scene.crash(Array(scene.bytes.prefix(length)), isCatalogueKept: isCatalogueKept)
            let isWhole = length == scene.block.upperBound
            #expect(try store.holds(scene.before), "cut at \(length)")
            #expect(try store.catalogue.gaps() == (isWhole ? scene.gaps : []), "cut at \(length)")
            let kept = isWhole ? length : scene.block.lowerBound
            #expect(try scene.segment.readFile().count == kept, "cut at \(length)")
            try store.enter(scene.gaps)
            #expect(try store.catalogue.gaps() == scene.gaps, "after a cut at \(length)")
            #expect(try scene.segment.readFile().count == scene.block.upperBound, "after a cut at \(length)")
        }
    }

    @Test("gaps stay when later bytes are cut off", arguments: [true, false])
    func cutsBehind(isCatalogueKept: Bool) throws {
        let scene = try Scene()
        for length in (scene.block.upperBound...scene.bytes.count).sampled {
            let store = try scene.crash(Array(scene.bytes.prefix(length)), isCatalogueKept: isCatalogueKept)
            #expect(try store.catalogue.gaps() == scene.gaps, "cut at \(length)")
            #expect(try store.catalogue.hasSnapshot(scene.after.id) == (length == scene.bytes.count))
        }
    }

    @Test("a wrong byte anywhere in the gaps' block loses the gaps and no snapshot, and they can be entered again")
    func garbage() throws {
        let scene = try Scene()
        for offset in scene.block.sampled {
            var bytes = scene.bytes
            bytes[offset] ^= 0x01
            let store = try scene.crash(bytes, isCatalogueKept: false)
            #expect(try store.catalogue.gaps().isEmpty, "flip at \(offset)")
            #expect(try store.holds(scene.before) && store.holds(scene.after), "flip at \(offset)")
            if offset % 8 != 0 { continue }
            try store.enter(scene.gaps)
            #expect(try store.catalogue.gaps() == scene.gaps, "after a flip at \(offset)")
        }
    }

    @Test("a rebuild of the catalogue moves an undecodable gap into salvage and lists the others")
    func nonsense() throws {
        let directory = try TemporaryDirectory()
        let nonsense = RawChunk(kind: .gap, bytes: Array("no gap".utf8))
        do {
            let store = try ArchiveStore.open(directory.path, creating: true)
            try store.append(nonsense)
            try store.enter([.sample(1)])
        }
        let summary = try ArchiveStore.rebuildCatalogue(of: directory.path)
        #expect(summary.gaps == 1 && summary.damage.isEmpty)
        #expect(summary.moved.count == 1 && summary.moved.first?.contains(nonsense.id.hex) == true)
        #expect(try ArchiveStore.open(directory.path, creating: false).catalogue.gaps() == [.sample(1)])
    }

    @Test("a gap lost with its segment stays listed, and is stored again when it is entered again")
    func lostSegment() throws {
        let directory = try TemporaryDirectory()
        let gap = GapRecord.sample(1)
        try ArchiveStore.open(directory.path, creating: true).enter([gap])
        try onlySegment(in: directory.path).removeFile()
        let store = try ArchiveStore.open(directory.path, creating: false)
        #expect(try store.catalogue.gaps() == [gap])
        #expect(try failure { try store.record(ChunkID(hashing: gap.encoded()), as: GapRecord.self) }?.code == .damaged)
        try store.enter([gap])
        #expect(try store.record(ChunkID(hashing: gap.encoded()), as: GapRecord.self) == gap)
        #expect(try store.catalogue.gaps() == [gap])
    }

    @Test("a block with an unknown kind of chunk is kept, also in the unindexed part")
    func laterKinds() throws {
        let scene = try Scene()
        let later = RawChunk(kind: ChunkKind(rawValue: 200), bytes: Array("from the future".utf8))
        var encoder = try BlockEncoder(level: 1)
        let start = scene.block.lowerBound
        let segment = try Segment(LocalSegment(at: EnclosedPath(file: scene.segment)))
        let block = try encoder.encode([later]).bytes(at: segment.place(start))
        let gaps = try segment.block(at: start)
        let bytes =
            Array(scene.bytes[..<start]) + block + gaps.header.encoded(at: segment.place(start + block.count))
            + gaps.payload
        for isCatalogueKept in [true, false] {
            let store = try scene.crash(bytes, isCatalogueKept: isCatalogueKept)
            #expect(try scene.segment.readFile() == bytes)
            #expect(try store.read(later.id) == later.bytes)
            #expect(try store.catalogue.gaps() == scene.gaps)
        }
        #expect(try ArchiveStore.rebuildCatalogue(of: scene.path).damage.isEmpty)
    }
}

extension ArchiveStore {
    /// Appends a block that holds only `chunk`.
    fileprivate func append(_ chunk: RawChunk) throws {
        var encoder = try BlockEncoder(level: 1)
        let writer = try beginCommit()
        #expect(try writer.claim(chunk.id))
        try writer.append(encoder.encode([chunk]))
        try writer.commitChunks()
    }
}
