// Several copies of one chunk: any undamaged copy serves the chunk and the deltas against it.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Several copies of a chunk", .blocking)
struct CopyTests {
    /// How a block is damaged.
    enum Damage: CaseIterable, Sendable {
        case payload, header, segment
    }

    /// An archive with each block in its own segment.
    private final class Shelf {
        let directory: TemporaryDirectory
        private var encoder: BlockEncoder
        private var segments: [FilePath] = []

        var path: FilePath { directory.path }

        init() throws {
            directory = try TemporaryDirectory()
            encoder = try BlockEncoder(level: 9)
            try ArchiveCreationTests.makeArchive(at: directory.path, segmentBytes: SegmentHeader.byteCount + 1)
        }

        func open() throws -> ArchiveStore { try ArchiveStore.open(path, creating: false) }

        /// Adds a block to `store`.
        ///
        /// - Returns: its header.
        @discardableResult
        func add(_ chunks: [RawChunk], on bases: [RawChunk] = [], to store: ArchiveStore) throws -> BlockHeader {
            let block = try encoder.encode(chunks, bases: bases.map { BaseChunk(id: $0.id, bytes: $0.bytes, depth: 0) })
            let writer = try store.beginCommit()
            try writer.append(block)
            try writer.commitChunks()
            let known = Set(segments)
            let new = try store.catalogue.segments().map { store.segments.path(of: $0.path) }.filter {
                // Removed segments stay in the catalogue of this process.
                guard !known.contains($0), let segment = try? Segment(LocalSegment(at: EnclosedPath(file: $0))),
                    let start = try? $0.afterOpening()
                else { return false }
                return (try? segment.blockHeader(at: start)) != nil
            }
            segments.append(try #require(new.first))
            return block.header
        }

        /// Damages the block that was added as number `number`, counted from 0.
        func destroy(_ number: Int, _ damage: Damage) throws {
            let start = try segments[number].afterOpening()
            let header = try Segment(LocalSegment(at: EnclosedPath(file: segments[number]))).blockHeader(at: start)
            switch damage {
            case .payload: try segments[number].flipByte(at: start + header.headerLength)
            case .header: try segments[number].flipByte(at: start + header.headerLength - 10)
            case .segment: try segments[number].removeFile()
            }
        }
    }

    /// Opens the archive as it is, and with a rebuilt catalogue.
    private func openings(_ path: FilePath, _ body: (ArchiveStore, Comment) throws -> Void) throws {
        try body(try ArchiveStore.open(path, creating: false), "the catalogue as it is")
        _ = try ArchiveStore.rebuildCatalogue(of: path)
        try body(try ArchiveStore.open(path, creating: false), "a new catalogue")
    }

    private func expect(
        _ chunk: RawChunk, in store: ArchiveStore, _ comment: Comment,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(throws: Never.self, comment, sourceLocation: sourceLocation) {
            let bytes = try store.read(chunk.id)
            #expect(bytes == chunk.bytes, comment, sourceLocation: sourceLocation)
        }
    }

    @Test(
        "a chunk with one undamaged copy is readable, however the other copies are damaged",
        arguments: Damage.allCases, [0, 1, 2])
    func anyCopy(damage: Damage, whole: Int) throws {
        let shelf = try Shelf()
        var random = SeededGenerator(seed: 12)
        let base = RawChunk(kind: .content, bytes: random.text(3000))
        let top = RawChunk(kind: .content, bytes: base.bytes + random.text(30))
        do {
            let store = try shelf.open()
            for _ in 0..<3 { try shelf.add([base], to: store) }
            #expect(try shelf.add([top], on: [base], to: store).codec == .delta)
        }
        for number in 0..<3 where number != whole { try shelf.destroy(number, damage) }
        try openings(shelf.path) { store, comment in
            expect(base, in: store, comment)
            expect(top, in: store, comment)
        }
    }

    @Test("a false copy of a chunk is never returned, and the true copy is found", arguments: [true, false])
    func falseCopy(isFirst: Bool) throws {
        let shelf = try Shelf()
        var random = SeededGenerator(seed: 13)
        let base = RawChunk(kind: .content, bytes: random.text(3000))
        let liar = RawChunk(id: base.id, kind: .content, bytes: Array(base.bytes.reversed()))
        let top = RawChunk(kind: .content, bytes: base.bytes + random.text(30))
        do {
            let store = try shelf.open()
            for chunk in isFirst ? [liar, base] : [base, liar] { try shelf.add([chunk], to: store) }
            #expect(try shelf.add([top], on: [base], to: store).codec == .delta)
        }
        try openings(shelf.path) { store, comment in
            for chunk in [top, base, top] {
                expect(chunk, in: store, comment)
            }
        }
    }

    @Test("copies that depend on each other are read through a copy without bases", arguments: [true, false])
    func circle(isFirst: Bool) throws {
        let shelf = try Shelf()
        var random = SeededGenerator(seed: 14)
        let one = RawChunk(kind: .content, bytes: random.text(3000))
        let two = RawChunk(kind: .content, bytes: one.bytes + random.text(30))
        do {
            let store = try shelf.open()
            if isFirst { try shelf.add([one], to: store) }
            try shelf.add([two], on: [one], to: store)
            try shelf.add([one], on: [two], to: store)
            if !isFirst { try shelf.add([one], to: store) }
        }
        try openings(shelf.path) { store, comment in
            for chunk in [two, one, two] {
                expect(chunk, in: store, comment)
            }
        }
    }

    @Test("a chunk with a true copy and readable bases is always read, and no read returns wrong bytes")
    func random() throws {
        var random = SeededGenerator("CopyTests.random")
        for _ in 0..<6 {
            let shelf = try Shelf()
            let text = random.text(2000)
            let chunks = (0..<12).map { _ in RawChunk(kind: .content, bytes: text + random.noise(40)) }
            /// Undamaged true copies: the chunk's number, and the numbers of its bases.
            var whole: [(chunk: Int, bases: [Int])] = []
            do {
                let store = try shelf.open()
                var copies = chunks.indices.flatMap { [Int](repeating: $0, count: 1 + random.below(3)) }
                copies.shuffle(using: &random)
                for (number, chunk) in copies.enumerated() {
                    let isFalse = random.oneIn(10)
                    let bases = random.oneIn(3) ? [] : chunks.indices.filter { $0 != chunk && random.oneIn(8) }
                    let bytes = isFalse ? Array(chunks[chunk].bytes.reversed()) : chunks[chunk].bytes
                    let raw = RawChunk(id: chunks[chunk].id, kind: .content, bytes: bytes)
                    let header = try shelf.add([raw], on: bases.map { chunks[$0] }, to: store)
                    let isDamaged = random.oneIn(3)
                    if isDamaged, let damage = Damage.allCases.randomElement(using: &random) {
                        try shelf.destroy(number, damage)
                    }
                    if !isFalse, !isDamaged { whole.append((chunk, header.bases.isEmpty ? [] : bases)) }
                }
            }
            var readable: Set<Int> = []
            while let next = whole.first(where: { !readable.contains($0.chunk) && readable.isSuperset(of: $0.bases) }) {
                readable.insert(next.chunk)
            }
            try openings(shelf.path) { store, comment in
                for (number, chunk) in chunks.enumerated().shuffled(using: &random) {
                    let comment: Comment = "\(comment), chunk \(number), TEST_SEED=\(random.seed)"
                    if readable.contains(number) {
                        expect(chunk, in: store, comment)
                    } else {
                        // A base from which the delta copies nothing may be wrong.
                        let error = try failure {
                            let bytes = try store.read(chunk.id)
                            #expect(bytes == chunk.bytes, comment)
                        }
                        #expect(error == nil || error?.code == .damaged, comment)
                    }
                }
            }
        }
    }
}
