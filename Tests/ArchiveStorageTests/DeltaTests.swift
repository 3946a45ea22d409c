// Chunks compressed against older ones: small, bounded in depth, and safe against crafted headers.

import ArchiveFormat
import ArchiveStorage
import Compression
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Blocks on bases", .blocking)
struct DeltaTests {
    private func append(_ block: EncodedBlock, to writer: CommitWriter) throws {
        for chunk in block.header.chunks { #expect(try writer.claim(chunk.id)) }
        try writer.append(block)
    }

    private func end(_ writer: CommitWriter, _ number: Int = 1) throws {
        let snapshot = Snapshot(
            time: Timestamp(seconds: Int64(number)), rootPath: [0x2F], host: "", cause: .watch,
            tree: ChunkID(hashing: [0xa0]), totals: Totals(), changes: ChangeCounts(), storedBytes: 0)
        _ = try writer.commit(snapshot, base: nil)
    }

    @Test("40 versions of a text, each based on the previous one, are small, at most 16 deep, and readable")
    func chain() throws {
        let directory = try TemporaryDirectory()
        let store = try ArchiveStore.open(directory.path, creating: true)
        var random = SeededGenerator()
        var encoder = try BlockEncoder(level: 9)
        var text = random.text(20_000)
        var versions: [RawChunk] = []
        var depths: [Int] = []
        var storedBytes = 0
        var bytesAlone = 0
        for number in 0..<40 {
            let place = random.below(text.count)
            text.replaceSubrange(place..<place, with: Array("<edit \(number) \(random.next())>".utf8))
            let chunk = RawChunk(kind: .content, bytes: text)
            let base = try versions.last.flatMap { try store.base($0.id) }
            let block = try encoder.encode([chunk], bases: base.map { [$0] } ?? [])
            depths.append(block.header.depth)
            storedBytes += block.byteCount
            bytesAlone += try encoder.encode([chunk]).byteCount
            let writer = try store.beginCommit()
            try append(block, to: writer)
            try end(writer, number)
            versions.append(chunk)
        }
        // After the sixteenth base a version branches from an older one instead of having no base.
        #expect(Array(depths.prefix(17)) == Array(0...16), "TEST_SEED=\(random.seed)")
        for (depth, next) in zip(depths, depths.dropFirst()) {
            #expect(depth < 16 ? next == depth + 1 : [1, 5, 9, 13].contains(next), "TEST_SEED=\(random.seed)")
        }
        #expect(storedBytes * 10 < bytesAlone, "TEST_SEED=\(random.seed): \(storedBytes) of \(bytesAlone)")
        for reopened in [store, try ArchiveStore.open(directory.path, creating: false)] {
            for chunk in versions.reversed() { #expect(try reopened.read(chunk.id) == chunk.bytes) }
        }
    }

    @Test("a delta can copy from all its bases, as the format specifies")
    func wholeBases() throws {
        let directory = try TemporaryDirectory()
        let store = try ArchiveStore.open(directory.path, creating: true)
        var random = SeededGenerator()
        var encoder = try BlockEncoder(level: 9)
        let parts = (0..<3).map { _ in RawChunk(kind: .content, bytes: random.noise(200_000)) }
        let joined = Array(parts.map(\.bytes).joined())
        // Copies from the start, across the boundary of two bases and in another order, with new noise in between.
        let own = random.noise(50)
        let like = RawChunk(
            kind: .content, bytes: joined.suffix(30_000) + own + joined.prefix(100) + joined[190_000..<230_000])
        let unlike = RawChunk(kind: .content, bytes: random.noise(16_000))
        let bases = parts.map { BaseChunk(id: $0.id, bytes: $0.bytes, depth: 0) }
        let likeBlock = try encoder.encode([like], bases: bases)
        #expect(likeBlock.header.codec == .delta && likeBlock.header.bases == parts.map { ChunkPrefix($0.id) })
        #expect((50..<100).contains(likeBlock.header.storedLength), "TEST_SEED=\(random.seed)")
        let unlikeBlock = try encoder.encode([unlike], bases: bases)
        #expect(unlikeBlock.header.codec == .stored && unlikeBlock.header.bases.isEmpty)
        #expect(unlikeBlock.header.depth == 0)
        let writer = try store.beginCommit()
        for part in parts { try append(encoder.encode([part]), to: writer) }
        try append(likeBlock, to: writer)
        try append(unlikeBlock, to: writer)
        try end(writer)
        #expect(try store.read(like.id) == like.bytes)
        #expect(try store.read(unlike.id) == unlike.bytes)
    }

    @Test("the bytes that a delta inserts are compressed with the end of its bases as dictionary")
    func dictionary() throws {
        var random = SeededGenerator()
        var encoder = try BlockEncoder(level: 9)
        // Pieces too short to be copied.
        let base = random.noise(32_768)
        let pieces = stride(from: 0, to: 32_000, by: 160).map { Array(base[$0..<($0 + 15)]) }
        let text = RawChunk(kind: .content, bytes: Array(pieces.joined()))
        let block = try encoder.encode(
            [text], bases: [BaseChunk(id: ChunkID(hashing: base), bytes: base, depth: 0)])
        #expect(block.header.codec == .delta)
        #expect(block.header.storedLength < text.bytes.count / 3, "TEST_SEED=\(random.seed)")
    }

    @Test("chunks packed into one block, including an empty one, can be read one by one")
    func packed() throws {
        let directory = try TemporaryDirectory()
        let store = try ArchiveStore.open(directory.path, creating: true)
        var random = SeededGenerator()
        let chunks = (0..<300).map { RawChunk(kind: .content, bytes: random.text($0)) }
        let writer = try store.beginCommit()
        var encoder = try BlockEncoder(level: 6)
        try append(encoder.encode(chunks), to: writer)
        try end(writer)
        let reopened = try ArchiveStore.open(directory.path, creating: false)
        for chunk in chunks.shuffled(using: &random) { #expect(try reopened.read(chunk.id) == chunk.bytes) }
    }

    @Test("bases that depend on each other cause an error, not an endless loop")
    func cycle() throws {
        let directory = try TemporaryDirectory()
        let store = try ArchiveStore.open(directory.path, creating: true)
        let ids = (0..<3).map { ChunkID(hashing: [UInt8($0)]) }
        let writer = try store.beginCommit()
        for (index, id) in ids.enumerated() {
            let next = ids[(index + 1) % ids.count]
            try append(crafted(id, bases: [next, next], depth: 3), to: writer)
        }
        try end(writer)
        for id in ids {
            #expect(try failure { try store.read(id) }?.code == .damaged)
            #expect(try store.base(id) == nil)
        }
    }

    @Test("a few small blocks that unpack to terabytes are refused early", .timeLimit(.minutes(60)))
    func bomb() throws {
        let directory = try TemporaryDirectory()
        let store = try ArchiveStore.open(directory.path, creating: true)
        let writer = try store.beginCommit()
        let length = 2 << 20
        let zeros = RawChunk(kind: .content, bytes: .init(repeating: 0, count: length))
        try append(store.encode([zeros], level: 9), to: writer)
        // Insert nothing, copy all from the beginning.
        let payload: [UInt8] = [6, 0, 0x80, 0x80, 0x80, 0x01, 0]
        var bases = [zeros.id]
        for depth in 1...16 {
            let ids = (0..<8).map { ChunkID(hashing: [UInt8(depth), UInt8($0)]) }
            for id in ids {
                let header = BlockHeader(
                    codec: .delta, depth: depth, storedLength: payload.count,
                    payloadChecksum: payload.withUnsafeBytes { crc32($0) }, bases: bases.map { ChunkPrefix($0) },
                    chunks: [.init(kind: .content, length: length, id: id)])
                try append(EncodedBlock(header: header, payload: payload), to: writer)
            }
            bases = ids
        }
        try end(writer)
        let before = store.counters.counts.blocksRead
        let error = try #require(try failure { try store.read(bases[0]) })
        #expect(error.code == .damaged)
        #expect(store.counters.counts.blocksRead - before < 600)
    }

    @Test("a block whose bases would take more work than a reader must do is stored without them")
    func limitOfWork() throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let store = try ArchiveStore.open(directory.path, creating: true)
        let length = 2 << 20
        /// A chunk of zeros that begins with a number, and its delta against bases that are like it.
        func layered(_ number: UInt64, on bases: [ChunkID], depth: Int) throws -> (ChunkID, EncodedBlock) {
            let start = withUnsafeBytes(of: number) { Array($0) }
            let chunk = RawChunk(kind: .content, bytes: start + [UInt8](repeating: 0, count: length - 8))
            if bases.isEmpty { return (chunk.id, try store.encode([chunk], level: 1)) }
            // Insert 8, copy the rest from 8 bytes behind the beginning.
            let delta: [UInt8] = [8, 0xf8, 0xff, 0x7f, 0x10] + start
            let payload = [UInt8(delta.count)] + delta
            let header = BlockHeader(
                codec: .delta, depth: depth, storedLength: payload.count,
                payloadChecksum: payload.withUnsafeBytes { crc32($0) }, bases: bases.map { ChunkPrefix($0) },
                chunks: [.init(kind: .content, length: length, id: chunk.id)])
            return (chunk.id, EncodedBlock(header: header, payload: payload))
        }
        let writer = try store.beginCommit()
        var layers: [[ChunkID]] = [[]]
        for depth in 0...8 {
            var layer: [ChunkID] = []
            for number in 0..<(depth == 0 ? 1 : 8) {
                let (id, block) = try layered(UInt64(8 * depth + number), on: layers[depth], depth: depth)
                try append(block, to: writer)
                layer.append(id)
            }
            layers.append(layer)
        }
        try end(writer)
        // 57 blocks of 2 MiB are below the last layer, so one block on top of it may be read.
        #expect(try store.read(layers[9][0]).count == length)
        let new = RawChunk(kind: .content, bytes: [UInt8](repeating: 0, count: 1 << 16) + [1])
        for (count, isUsed) in [(1, true), (6, true), (7, false), (8, false)] {
            let bases = try layers[9].prefix(count).map { try #require(try store.base($0)) }
            let block = try store.encode([new], bases: bases)
            #expect(block.header.bases.count == (isUsed ? count : 0), "\(count) bases")
        }
    }

    @Test("a chain of crafted blocks far deeper than the format allows is an error")
    func tooDeep() throws {
        let directory = try TemporaryDirectory()
        let store = try ArchiveStore.open(directory.path, creating: true)
        let ids = (0..<5000).map { ChunkID(hashing: Array("\($0)".utf8)) }
        let writer = try store.beginCommit()
        for (id, base) in zip(ids, ids.dropFirst()) { try append(crafted(id, bases: [base], depth: 16), to: writer) }
        try end(writer)
        #expect(try failure { try store.read(ids[0]) }?.code == .damaged)
    }

    @Test("a block whose bytes do not match its ids is refused even if its checksums are right")
    func wrongBytes() throws {
        let directory = try TemporaryDirectory()
        let store = try ArchiveStore.open(directory.path, creating: true)
        let liar = RawChunk(id: ChunkID(hashing: [1]), kind: .content, bytes: [2])
        let writer = try store.beginCommit()
        var encoder = try BlockEncoder(level: 6)
        try append(encoder.encode([liar]), to: writer)
        try end(writer)
        let error = try #require(try failure { try store.read(liar.id) })
        #expect(error.code == .damaged)
        #expect(error.message.contains(liar.id.hex))
    }

    /// A valid block that names bases it was not compressed against.
    private func crafted(_ id: ChunkID, bases: [ChunkID], depth: Int) throws -> EncodedBlock {
        let text = Array("the same text, so that it shrinks".utf8)
        var encoder = try BlockEncoder(level: 9)
        let block = try encoder.encode(
            [RawChunk(id: id, kind: .content, bytes: text)],
            bases: bases.map { BaseChunk(id: $0, bytes: text, depth: depth - 1) })
        #expect(block.header.bases == bases.map(ChunkPrefix.init) && block.header.depth == depth)
        return block
    }
}
