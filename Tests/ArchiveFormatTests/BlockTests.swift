// Block and segment headers: round trips, limits and damage.

import ArchiveFormat
import Compression
import FileIO
import TestSupport
import Testing

@Suite("Blocks")
struct BlockTests {
    private let place = BlockPlace(in: BlockTests.origin(1), offset: 0x1_2345)

    /// A segment's place that depends on `number`.
    static func origin(_ number: UInt8) -> BlockOrigin {
        let bytes = [UInt8](repeating: number, count: 16)
        return bytes.withUnsafeBytes { BlockOrigin(archive: ArchiveID(exactly: $0), segment: SegmentID(exactly: $0)) }
    }

    private func decode(_ bytes: [UInt8], at place: BlockPlace? = nil) throws -> BlockHeader {
        try bytes.withUnsafeBytes { try BlockHeader(decoding: $0, at: place ?? self.place) }
    }

    /// `bytes` with the last four replaced by the correct checksum.
    private func sealed(_ bytes: [UInt8]) -> [UInt8] {
        let body = Array(bytes.dropLast(4))
        let place = [UInt8](repeating: 1, count: 32) + hex("4523010000000000")
        let checksum = (place + body).withUnsafeBytes { crc32($0) }
        return body + (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (8 * $0)) }
    }

    @Test("a header reads back as it was written")
    func roundTrip() throws {
        var random = SeededGenerator()
        for _ in 0..<200 {
            let header = random.blockHeader()
            let bytes = header.encoded(at: place)
            #expect(try decode(bytes) == header, "seed \(random.seed)")
            #expect(bytes.count == header.headerLength)
            #expect(header.blockLength == bytes.count + header.storedLength)
            let prefix = bytes.prefix(BlockHeader.prefixLength)
            #expect(try prefix.withUnsafeBytes { try BlockHeader.headerLength(ofPrefix: $0) } == bytes.count)
        }
    }

    @Test("the bytes of a header are those of the format document")
    func layout() throws {
        let base = ChunkID(hashing: [1]), chunk = ChunkID(hashing: [2])
        let delta = BlockHeader(
            codec: .delta, depth: 3, storedLength: 0x0101, payloadChecksum: 0x0d0c0b0a, bases: [ChunkPrefix(base)],
            chunks: [.init(kind: .node, length: 0x012345, id: chunk)])
        #expect(
            delta.encoded(at: place)
                == sealed(
                    hex("41424c4b 45 8102 0a0b0c0d 23 01") + base.bytes[..<20] + hex("01 01 c5c604") + chunk.bytes
                        + [0, 0, 0, 0]))
        let stored = BlockHeader(
            codec: .stored, depth: 0, storedLength: 3, payloadChecksum: 1, bases: [],
            chunks: [.init(kind: .content, length: 1, id: base), .init(kind: .gap, length: 2, id: chunk)])
        #expect(
            stored.encoded(at: place)
                == sealed(
                    hex("41424c4b 4f 03 01000000 00 02 00 01") + base.bytes + hex("04 02") + chunk.bytes
                        + [0, 0, 0, 0]))
    }

    @Test("a changed bit anywhere in a header is detected")
    func everyBit() throws {
        var random = SeededGenerator()
        let bytes = random.blockHeader().encoded(at: place)
        for index in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[index] ^= 1 << UInt8(bit)
                #expect(throws: FormatError.self, "seed \(random.seed)") { try decode(damaged) }
            }
        }
        for count in bytes.indices {
            #expect(throws: FormatError.truncated, "seed \(random.seed)") { try decode(Array(bytes[..<count])) }
        }
        #expect(throws: FormatError.self) { try decode(bytes + [0]) }
    }

    @Test("a header beyond the limits is refused even if its checksum is right")
    func limits() throws {
        let id = ChunkID(hashing: [])
        func bytes(
            codec: Codec = .deflate, depth: Int = 0, stored: Int = 5, bases: Int = 0,
            chunks: [Int] = [10]
        ) -> [UInt8] {
            BlockHeader(
                codec: codec, depth: depth, storedLength: stored, payloadChecksum: 0,
                bases: .init(repeating: ChunkPrefix(id), count: bases),
                chunks: chunks.map { .init(kind: .content, length: $0, id: id) }
            ).encoded(at: place)
        }
        func refuses(_ bytes: [UInt8]) -> Bool { (try? decode(bytes)) == nil }
        #expect(!refuses(bytes()))
        #expect(!refuses(bytes(codec: .delta, depth: 16, bases: 8)))
        #expect(refuses(bytes(codec: .delta, depth: 17, bases: 8)))
        #expect(refuses(bytes(codec: .delta, depth: 16, bases: 9)))
        #expect(refuses(bytes(codec: .delta, depth: 1, bases: 0)))
        #expect(refuses(bytes(stored: 11)))
        #expect(refuses(bytes(codec: .stored, stored: 9)))
        #expect(!refuses(bytes(codec: .stored, stored: 10)))
        #expect(refuses(bytes(chunks: [])))
        #expect(!refuses(bytes(chunks: [16 << 20])))
        #expect(refuses(bytes(chunks: [16 << 20, 1])))
        #expect(!refuses(bytes(chunks: .init(repeating: 1, count: 65_536))))
        #expect(refuses(bytes(chunks: .init(repeating: 1, count: 65_537))))
        // A number that is not in its shortest form, and bytes after the table.
        let whole = bytes(chunks: [10, 20])
        #expect(refuses(sealed(whole[..<4] + [whole[4] + 1, 0x85, 0] + whole[6...])))
        #expect(refuses(sealed(whole[..<4] + [whole[4] + 1] + whole[5...] + [0])))
        #expect(!refuses(sealed(whole)))
    }

    @Test("a header is bound to its place: a copy at another offset or in another segment is refused")
    func boundToPlace() throws {
        var random = SeededGenerator()
        let bytes = random.blockHeader().encoded(at: place)
        _ = try decode(bytes)
        for other in [
            BlockPlace(in: place.origin, offset: place.offset + 1), BlockPlace(in: place.origin, offset: 64),
            BlockPlace(in: BlockTests.origin(2), offset: place.offset), BlockPlace(in: BlockTests.origin(0), offset: 0),
        ] {
            #expect(throws: FormatError.checksumMismatch("a block's header")) { try decode(bytes, at: other) }
        }
    }

    @Test("the header of a block with an unknown codec, key or fields is read, and an error names what is unknown")
    func laterCodecs() throws {
        let id = ChunkID(hashing: [])
        func header(_ codec: Codec, depth: Int = 0, stored: Int = 10, key: Int = 0, fields: [UInt8] = [])
            -> BlockHeader
        {
            BlockHeader(
                codec: codec, depth: depth, storedLength: stored, payloadChecksum: 0,
                bases: depth == 0 ? [] : [ChunkPrefix(id)], chunks: [.init(kind: .content, length: 10, id: id)],
                keyID: key, laterFields: fields)
        }
        for known in [header(.stored), header(.deflate), header(.delta, depth: 1)] { #expect(known.obstacle == nil) }
        for (later, obstacle) in [
            (header(.later(2)), "is packed with codec 2"),
            (header(.later(3), key: 1, fields: [9]), "is packed with codec 3"),
            (header(.later(1 << 30)), "is packed with codec 1073741824"),
            (header(.later(3), depth: 16, stored: 60_000), "is packed with codec 3"),
            (header(.deflate, fields: [1]), "has fields of a later program"),
            (header(.stored, stored: 26, key: 1), "is encrypted with key 1"),
            (header(.delta, depth: 1, key: 300, fields: [1, 2]), "is encrypted with key 300"),
            (
                header(.stored, stored: 26, fields: .init(repeating: 7, count: 254)),
                "has fields of a later program"
            ),
        ] {
            #expect(try decode(later.encoded(at: place)) == later)
            #expect(later.obstacle == obstacle)
        }
        // An empty extension, or one that is too short for its key.
        for part in ["01 00", "00", "01 80 01"] {
            var bytes = header(.deflate, fields: [1]).encoded(at: place)
            bytes.replaceSubrange(11..<14, with: hex(part))
            bytes[4] = UInt8(bytes.count - 5)
            #expect(throws: FormatError.self, "\(part)") { try decode(sealed(bytes)) }
        }
        // A depth without bases, and a payload that is much longer than the chunks.
        #expect(header(.later(2)).encoded(at: place)[10] == 0x40)
        #expect(header(.deflate, fields: [1]).encoded(at: place)[10] == 0xa0)
        for form: UInt8 in [0x01, 0x10, 0x11, 0x31, 0x51, 0x60] {
            var bytes = header(.stored).encoded(at: place)
            bytes[10] = form
            #expect(throws: FormatError.self, "\(form)") { try decode(sealed(bytes)) }
        }
        #expect(throws: FormatError.self) { try decode(header(.later(2), stored: 70_000).encoded(at: place)) }
        #expect(throws: FormatError.self) {
            try decode(header(.deflate, fields: .init(repeating: 7, count: 255)).encoded(at: place))
        }
    }

    @Test("a codec's number may be in the extension, and a table in the payload")
    func extensions() throws {
        let id = ChunkID(hashing: [])
        func header(_ codec: Codec, stored: Int = 10, key: Int = 0, isTableHidden: Bool = false) -> BlockHeader {
            BlockHeader(
                codec: codec, depth: 0, storedLength: stored, payloadChecksum: 0, bases: [],
                chunks: isTableHidden ? [] : [.init(kind: .content, length: 10, id: id)], keyID: key)
        }
        // Form, length of the extension, codec 300, key 5.
        #expect(header(.later(300), key: 5).encoded(at: place)[10..<15].elementsEqual(hex("e0 03 ac 02 05")))
        #expect(header(.later(3)).encoded(at: place)[10..<14].elementsEqual(hex("e0 02 03 00")))
        // A codec that has a value of its own must not be in the extension.
        var bytes = header(.later(3)).encoded(at: place)
        bytes[12] = 2
        #expect(throws: FormatError.self) { try decode(sealed(bytes)) }
        let hidden = header(.stored, stored: 19_267_584, key: 1, isTableHidden: true)
        #expect(try decode(hidden.encoded(at: place)) == hidden)
        #expect(hidden.mayHideReferences && !header(.later(9)).mayHideReferences)
        for refused in [
            header(.stored, stored: 19_267_585, key: 1, isTableHidden: true), header(.stored, isTableHidden: true),
        ] {
            #expect(throws: FormatError.self) { try decode(refused.encoded(at: place)) }
        }
    }

    @Test("chunks of unknown kinds are kept unchanged")
    func unknownKinds() throws {
        let id = ChunkID(hashing: [])
        for number in UInt8.min...UInt8.max {
            let header = BlockHeader(
                codec: .stored, depth: 0, storedLength: 1, payloadChecksum: 0, bases: [],
                chunks: [.init(kind: ChunkKind(rawValue: number), length: 1, id: id)])
            #expect(try decode(header.encoded(at: place)) == header)
            #expect(header.encoded(at: place)[12] == number)
        }
    }

    @Test("every kind of chunk has the number of the format document")
    func kindNumbers() {
        let kinds: [ChunkKind] = [
            .content, .node, .snapshot, .sliceList, .gap, .state, .operation, .forgotten, .rootNotice,
            .droppedSegments, .label, .pin, .note, .policy, .unforgotten, .deletion, .opening, .lostSegments,
        ]
        #expect(kinds.map(\.rawValue) == Array(0...17))
    }

    @Test("no bytes crash the header decoder, and a decoded header encodes to the same bytes")
    func fuzz() {
        var random = SeededGenerator()
        for _ in 0..<5000 {
            let bytes = sealed(damaged(random.blockHeader().encoded(at: place), using: &random) + [0, 0, 0, 0])
            let cut = sealed(damaged(random.blockHeader().encoded(at: place), using: &random))
            for bytes in [bytes, cut, random.bytes(0, 80)] {
                if let header = try? decode(bytes) {
                    #expect(header.encoded(at: place) == bytes, "seed \(random.seed)")
                }
            }
        }
    }

    @Test("the range of a chunk follows from the lengths before it")
    func ranges() {
        let id = ChunkID(hashing: [])
        let header = BlockHeader(
            codec: .stored, depth: 0, storedLength: 6, payloadChecksum: 0, bases: [],
            chunks: [1, 0, 2, 3].map { .init(kind: .content, length: $0, id: id) })
        #expect((0..<4).map { header.range(ofChunkAt: $0) } == [0..<1, 1..<1, 1..<3, 3..<6])
    }

    @Test("a damaged payload is detected")
    func payload() throws {
        let payload = Array("123456789".utf8)
        let header = BlockHeader(
            codec: .stored, depth: 0, storedLength: 9, payloadChecksum: 0xcbf4_3926, bases: [],
            chunks: [.init(kind: .content, length: 9, id: ChunkID(hashing: payload))])
        func verify(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try header.verify(payload: $0) } }
        try verify(payload)
        #expect(throws: FormatError.truncated) { try verify(payload.dropLast()) }
        #expect(throws: FormatError.checksumMismatch("a block's payload")) { try verify(payload.reversed()) }
        #expect(throws: FormatError.checksumMismatch("a block's payload")) { try verify(payload + [0]) }
    }
}

@Suite("Segments")
struct SegmentTests {
    private func header(_ bytes: [UInt8]) throws -> SegmentHeader {
        try bytes.withUnsafeBytes { try SegmentHeader(decoding: $0) }
    }

    @Test("a segment's header has the layout of the format document and reads back")
    func segmentHeader() throws {
        let archive = try #require(ArchiveID(hex: "000102030405060708090a0b0c0d0e0f"))
        let segment = try #require(SegmentID(hex: "101112131415161718191a1b1c1d1e1f"))
        let value = SegmentHeader(archive: archive, segment: segment, created: Timestamp(seconds: -2, nanoseconds: 3))
        let bytes = value.encoded()
        let body = hex(
            "4152434853454702".replacing("02", with: "0a") + "01000000 40000000 000102030405060708090a0b0c0d0e0f"
                + "101112131415161718191a1b1c1d1e1f feffffffffffffff 03000000")
        #expect(Array(bytes.prefix(60)) == body)
        #expect(bytes.count == 64)
        #expect(try header(bytes) == value)
    }

    @Test("a damaged segment header is refused, and one of a newer format is refused by its version")
    func damagedHeader() throws {
        let bytes = SegmentHeader(archive: .random(), segment: .random(), created: .now).encoded()
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 0x40
            #expect(throws: FormatError.self, "byte \(index)") { try header(damaged) }
        }
        var newer = bytes
        newer[8] = 2
        #expect(throws: FormatError.checksumMismatch("a segment's header")) { try header(newer) }
        let checksum = newer[..<60].withUnsafeBytes { crc32($0) }
        withUnsafeBytes(of: checksum.littleEndian) { newer.replaceSubrange(60..<64, with: $0) }
        #expect(throws: FormatError.unknownVersion(2)) { try header(newer) }
        #expect(throws: FormatError.truncated) { try header(bytes.dropLast()) }
    }

    /// Random headers of consecutive blocks.
    private func blocks(_ count: Int, using random: inout SeededGenerator) -> (
        [(offset: Int, header: BlockHeader)], end: Int
    ) {
        var blocks: [(offset: Int, header: BlockHeader)] = []
        var end = SegmentHeader.byteCount
        for _ in 0..<count {
            let header = random.blockHeader()
            blocks.append((end, header))
            end += header.blockLength
        }
        return (blocks, end)
    }

    private func read(_ footer: [UInt8], at end: Int) throws -> [SegmentFooter.Block] {
        let trailer = try footer.suffix(SegmentFooter.trailerByteCount).withUnsafeBytes {
            try SegmentFooter.Trailer(decoding: $0)
        }
        guard trailer.indexOffset == end, trailer.indexLength == footer.count - SegmentFooter.trailerByteCount else {
            throw FormatError.malformed("trailer")
        }
        var hash = SegmentHash()
        hash.update(Array("the blocks".utf8) + footer.dropLast(40))
        guard hash.finish() == trailer.segmentHash else { throw FormatError.checksumMismatch("segment") }
        return try footer.dropLast(SegmentFooter.trailerByteCount).withUnsafeBytes {
            try SegmentFooter.blocks(decodingIndex: $0, trailer: trailer, in: BlockTests.origin(7))
        }
    }

    private func footer(_ blocks: [(offset: Int, header: BlockHeader)]) -> [UInt8] {
        var content = SegmentHash()
        content.update(Array("the blocks".utf8))
        var encoder = SegmentFooter.Encoder(in: BlockTests.origin(7), content: content)
        var bytes: [UInt8] = []
        for block in blocks { encoder.append(block.header, to: &bytes) }
        encoder.appendTrailer(to: &bytes)
        return bytes
    }

    @Test("a footer holds the header and the offset of each block")
    func footer() throws {
        var random = SeededGenerator()
        for count in [0, 1, 7] {
            let (blocks, end) = blocks(count, using: &random)
            let again = try read(footer(blocks), at: end)
            #expect(again.map(\.offset) == blocks.map(\.offset), "seed \(random.seed)")
            #expect(again.map(\.header) == blocks.map(\.header), "seed \(random.seed)")
        }
    }

    @Test("a changed byte anywhere in a footer is detected")
    func damagedFooter() throws {
        var random = SeededGenerator()
        let (blocks, end) = blocks(2, using: &random)
        let footer = footer(blocks)
        for index in footer.indices {
            var damaged = footer
            damaged[index] ^= 1 << UInt8(index % 8)
            #expect(throws: FormatError.self, "seed \(random.seed), byte \(index)") { try read(damaged, at: end) }
        }
    }

    @Test("the blocks of an index follow each other without gaps")
    func contiguous() {
        var random = SeededGenerator()
        let (blocks, end) = blocks(2, using: &random)
        #expect(throws: FormatError.self) { try read(footer([blocks[1]]), at: end) }
        let moved = (offset: blocks[1].offset + 1, header: blocks[1].header)
        #expect(throws: FormatError.self) { try read(footer([blocks[0], moved]), at: end + 1) }
    }

    @Test("a segment's name holds its time and its id, and other names are refused")
    func name() throws {
        let segment = try #require(SegmentID(hex: "00abcdef000000000000000000000001"))
        let created = try #require(Timestamp(rfc3339: "2026-11-21T10:15:30.123456789Z"))
        let name = SegmentName(created: created, segment: segment)
        let digits = segment.hex
        #expect(name.fileName == "20261121T101530.123456Z-\(digits).segment")
        #expect(name.folder == "2026/11/21")
        #expect(name.path == "2026/11/21/\(name.fileName)")
        #expect(SegmentName(fileName: name.fileName) == name)
        let others = [
            "", "x", "20261121T101530.123456Z-\(digits.uppercased()).segment",
            "20261321T101530.123456Z-\(digits).segment",
            "20261121T101530.123456Z-\(digits).segmen", "20261121T101530.123456Z-\(digits.dropLast())g.segment",
            "20261121T101530.12345Z-\(digits).segment", "20261121T101530.123456Z-\(digits).segment~",
            "20261121T241530.123456Z-\(digits).segment", "20261121T101530.123456Z_\(digits).segment",
            "20261121T101530.123456Z-00abcdef.segment", "20261121T101560.123456Z-\(digits).segment",
        ]
        for other in others { #expect(SegmentName(fileName: other) == nil, "\(other)") }
    }

    @Test("names sort by time, even if a clock is far off")
    func nameOrder() throws {
        var random = SeededGenerator()
        let segment = SegmentID.random()
        var times = (0..<500).map { _ in random.timestamp() }
        times += [Timestamp(seconds: .min), Timestamp(seconds: .max, nanoseconds: 999_999_999)]
        let names = times.sorted().map { SegmentName(created: $0, segment: segment).fileName }
        #expect(names == names.sorted(), "seed \(random.seed)")
        for name in names { #expect(SegmentName(fileName: name)?.fileName == name, "seed \(random.seed)") }
    }
}
