// The header of a block: its chunks, how its payload is packed, and the checksums that protect both.

internal import Compression

/// The header of a block of chunks; the payload follows it directly in the segment.
package struct BlockHeader: Hashable, Sendable {
    /// A chunk in the block.
    package struct Chunk: Hashable, Sendable {
        package let kind: ChunkKind
        /// Length in raw bytes.
        package let length: Int
        package let id: ChunkID

        package init(kind: ChunkKind, length: Int, id: ChunkID) {
            self.kind = kind
            self.length = length
            self.id = id
        }
    }

    package let codec: Codec
    /// The number of the key that encrypts the payload; 0 if it is not encrypted.
    ///
    /// In a block with a key, an id may be any 32 bytes that the key's owner can verify.
    package let keyID: Int
    /// Fields that a later program added: this one keeps the block but cannot read its payload.
    package let laterFields: [UInt8]
    /// 0 without bases, otherwise 1 + the greatest depth of the bases' blocks; bounds the blocks that a read unpacks.
    package let depth: Int
    /// Bytes of the payload in the segment.
    package let storedLength: Int
    /// CRC-32 of the payload in the segment.
    package let payloadChecksum: UInt32
    /// The chunks that the payload is a delta against, in order.
    package let bases: [ChunkPrefix]
    /// The chunks in the block, in the order of their bytes in the raw payload; empty if the table of an encrypted
    /// block is in its payload.
    package let chunks: [Chunk]

    /// Creates a header from parts that are within the limits of the format.
    package init(
        codec: Codec, depth: Int, storedLength: Int, payloadChecksum: UInt32, bases: [ChunkPrefix], chunks: [Chunk],
        keyID: Int = 0, laterFields: [UInt8] = []
    ) {
        self.codec = codec
        self.keyID = keyID
        self.laterFields = laterFields
        self.depth = depth
        self.storedLength = storedLength
        self.payloadChecksum = payloadChecksum
        self.bases = bases
        self.chunks = chunks
    }

    /// Bytes of the unpacked payload: the sum of the chunks' lengths.
    package var rawLength: Int { chunks.reduce(0) { $0 + $1.length } }

    /// Bytes of the encoded header.
    package var headerLength: Int {
        let length = followingLength
        return BlockHeader.magic.count + LEB128.byteCount(of: length) + length
    }

    /// Why this program cannot unpack the payload, as the predicate of a sentence about the block; nil if it can.
    package var obstacle: String? {
        if case .later(let number) = codec { return "is packed with codec \(number)" }
        if keyID != 0 { return "is encrypted with key \(keyID)" }
        return laterFields.isEmpty ? nil : "has fields of a later program"
    }

    /// Whether the block may hold something that this program cannot read and that refers to other chunks.
    package var mayHideReferences: Bool {
        obstacle != nil && (chunks.isEmpty || chunks.contains { $0.kind != .content })
    }

    /// Bytes of the whole block in the segment.
    package var blockLength: Int { headerLength + storedLength }

    /// The bytes of the chunk at `index` in the raw payload.
    package func range(ofChunkAt index: Int) -> Range<Int> {
        let start = chunks[..<index].reduce(0) { $0 + $1.length }
        return start..<(start + chunks[index].length)
    }

    /// Checks the stored payload against the header.
    ///
    /// - Throws: `truncated` or `checksumMismatch`.
    package func verify(payload: UnsafeRawBufferPointer) throws(FormatError) {
        if payload.count < storedLength { throw .truncated }
        guard payload.count == storedLength, crc32(payload) == payloadChecksum else {
            throw .checksumMismatch("a block's payload")
        }
    }
}

// MARK: - Limits

extension BlockHeader {
    package static let rawLengthLimit = 16 << 20
    package static let chunkCountLimit = 65_536
    package static let baseCountLimit = 8
    package static let depthLimit = 16
    /// The most bytes of all bases of a block together.
    package static let sourceLengthLimit = 16 << 20
    /// How many bytes a payload that this program cannot read may be longer than its raw payload.
    private static let laterExcessLimit = 1 << 16
    /// The most bytes of the key's id and the later fields.
    private static let extensionLimit = 255

    /// The rule that the header breaks; nil if it breaks none.
    private var problem: String? {
        if !((keyID == 0 ? 1 : 0)...BlockHeader.chunkCountLimit).contains(chunks.count) {
            return "a block's number of chunks"
        }
        if case .later(let number) = codec, !(Form.codecLimit..<1 << 35).contains(number) { return "a block's codec" }
        let rawLength = rawLength
        if bases.count > BlockHeader.baseCountLimit { return "a block's number of bases" }
        if rawLength > BlockHeader.rawLengthLimit { return "a block's raw length" }
        if bases.isEmpty != (depth == 0) || !(0...BlockHeader.depthLimit).contains(depth) { return "a block's depth" }
        if extensionLength > BlockHeader.extensionLimit { return "a block's later fields" }
        switch codec {
        case .stored where obstacle == nil:
            if storedLength != rawLength { return "a stored block's length" }
        case .deflate where obstacle == nil, .delta where obstacle == nil:
            if storedLength > rawLength { return "a block whose packed payload is longer than the raw one" }
        default:
            let raw = chunks.isEmpty ? BlockHeader.rawLengthLimit + BlockHeader.tableLengthLimit : rawLength
            if storedLength > raw + BlockHeader.laterExcessLimit { return "a block's stored length" }
        }
        switch codec {
        case .stored, .deflate: return bases.isEmpty ? nil : "a block's bases"
        case .delta: return bases.isEmpty ? "a block's bases" : nil
        case .later: return nil
        }
    }
}

// MARK: - Bytes

extension BlockHeader {
    /// The first bytes of every block.
    package static let magic = Array("ABLK".utf8)

    /// Bytes that suffice to compute the length of the whole header; every block has more.
    package static let prefixLength = magic.count + 4
    private static let checksumLength = 4
    private static let leastFollowingLength = 3 + 2 * checksumLength
    private static let greatestFollowingLength =
        32 + baseCountLimit * ChunkPrefix.byteCount + 2 + extensionLimit + tableLengthLimit
    /// The most bytes of a chunk table.
    private static let tableLengthLimit = chunkCountLimit * chunkLength(LEB128.byteCount(of: rawLengthLimit))

    /// One byte for the depth, the codec, and whether there is an extension.
    private var form: UInt8 {
        UInt8(depth) | UInt8(min(codec.number, Int(Form.codec))) << Form.codecShift
            | (extensionLength == 0 ? 0 : Form.hasExtension)
    }

    /// Bytes of the codec's number, the key's id and the later fields; 0 if the block has none of them.
    private var extensionLength: Int {
        if codec.number < Form.codec, keyID == 0, laterFields.isEmpty { return 0 }
        let codecLength = codec.number < Form.codec ? 0 : LEB128.byteCount(of: codec.number)
        return codecLength + LEB128.byteCount(of: keyID) + laterFields.count
    }

    /// The parts of the byte `form`.
    private enum Form {
        static let depth: UInt8 = 0x1f
        static let codecShift: UInt8 = 5
        /// Also the value that says that the extension has the codec's number.
        static let codec: UInt8 = 3
        /// Codecs below this number are known.
        static let codecLimit = 2
        static let hasExtension: UInt8 = 0x80
    }

    /// Bytes of the header after its length field; the value of that field.
    private var followingLength: Int {
        LEB128.byteCount(of: storedLength) + 1 + (bases.isEmpty ? 0 : 1 + bases.count * ChunkPrefix.byteCount)
            + (extensionLength == 0 ? 0 : LEB128.byteCount(of: extensionLength) + extensionLength)
            + LEB128.byteCount(of: chunks.count)
            + chunks.reduce(0) { $0 + BlockHeader.chunkLength(LEB128.byteCount(of: $1.length)) }
            + 2 * BlockHeader.checksumLength
    }

    /// Bytes of a row of the chunk table whose length field has `lengthByteCount` bytes.
    private static func chunkLength(_ lengthByteCount: Int) -> Int { 1 + lengthByteCount + ChunkID.byteCount }

    /// The checksum that ends the header of the block at `place`.
    package func checksum(at place: BlockPlace) -> UInt32 {
        let bytes = encoded(at: place)
        return bytes.withUnsafeBytes {
            $0.littleEndian(at: bytes.count - BlockHeader.checksumLength, as: UInt32.self)
        }
    }

    /// The header's bytes in the block at `place`.
    package func encoded(at place: BlockPlace) -> [UInt8] {
        var bytes = [UInt8]()
        bytes.reserveCapacity(headerLength)
        bytes += BlockHeader.magic
        LEB128.append(followingLength, to: &bytes)
        LEB128.append(storedLength, to: &bytes)
        bytes.appendLittleEndian(payloadChecksum)
        bytes.append(form)
        if !bases.isEmpty { bytes.append(UInt8(bases.count)) }
        for base in bases { bytes += base.bytes }
        if extensionLength > 0 {
            LEB128.append(extensionLength, to: &bytes)
            if codec.number >= Form.codec { LEB128.append(codec.number, to: &bytes) }
            LEB128.append(keyID, to: &bytes)
            bytes += laterFields
        }
        LEB128.append(chunks.count, to: &bytes)
        for chunk in chunks {
            bytes.append(chunk.kind.rawValue)
            LEB128.append(chunk.length, to: &bytes)
            chunk.id.withUnsafeBytes { bytes.append(contentsOf: $0) }
        }
        bytes.appendLittleEndian(bytes.withUnsafeBytes { crc32($0, continuing: place.checksum) })
        return bytes
    }

    /// The length of the header that starts with `prefix`.
    ///
    /// - Parameter prefix: at least the first `prefixLength` bytes; no checksum has verified them yet.
    /// - Throws: `truncated` for fewer bytes; `malformed` if no header of a possible length starts here.
    package static func headerLength(ofPrefix prefix: UnsafeRawBufferPointer) throws(FormatError) -> Int {
        if prefix.count < prefixLength { throw .truncated }
        guard prefix.slice(0..<magic.count).elementsEqual(magic) else { throw .malformed("no block starts here") }
        var reader = BlockHeaderReader(prefix, from: magic.count)
        let length = try reader.number()
        guard (leastFollowingLength...greatestFollowingLength).contains(length) else {
            throw .malformed("the length of a block's header")
        }
        return reader.position + length
    }

    /// Reads a header.
    ///
    /// - Parameters:
    ///   - bytes: exactly the header; `headerLength(ofPrefix:)` returns its length.
    ///   - place: where the header was found; the header of a block at another place is refused.
    /// - Throws: `FormatError` for any bytes that `encoded(at:)` does not return.
    package init(decoding bytes: UnsafeRawBufferPointer, at place: BlockPlace) throws(FormatError) {
        let length = try BlockHeader.headerLength(ofPrefix: bytes)
        if bytes.count < length { throw .truncated }
        guard bytes.count == length else { throw .malformed("bytes after a block's header") }
        let end = length - BlockHeader.checksumLength
        let checksum = crc32(bytes.slice(0..<end), continuing: place.checksum)
        guard checksum == bytes.littleEndian(at: end, as: UInt32.self) else {
            throw .checksumMismatch("a block's header")
        }
        var reader = BlockHeaderReader(bytes.slice(0..<end), from: BlockHeader.magic.count)
        _ = try reader.number()
        storedLength = try reader.number()
        payloadChecksum = try reader.bytes(4).littleEndian(at: 0, as: UInt32.self)
        let form = try reader.byte()
        depth = Int(form & Form.depth)
        var codecNumber = Int(form >> Form.codecShift & Form.codec)
        var bases = [ChunkPrefix]()
        if depth > 0 {
            for _ in 0..<(try reader.byte()) {
                bases.append(ChunkPrefix(exactly: try reader.bytes(ChunkPrefix.byteCount)))
            }
        }
        self.bases = bases
        if form & Form.hasExtension != 0 {
            let length = try reader.number()
            let start = reader.position
            let isInExtension = codecNumber == Form.codec
            if isInExtension {
                codecNumber = try reader.number()
                guard codecNumber >= Form.codec else { throw .malformed("a block's codec") }
            }
            keyID = try reader.number()
            let left = length - (reader.position - start)
            guard left >= 0, isInExtension || keyID != 0 || left > 0 else { throw .malformed("a block's later fields") }
            laterFields = Array(try reader.bytes(left))
        } else {
            guard codecNumber < Form.codec else { throw .malformed("a block without the number of its codec") }
            keyID = 0
            laterFields = []
        }
        codec = Codec(number: codecNumber, isDelta: depth > 0)
        let count = try reader.number()
        guard count <= BlockHeader.chunkCountLimit else { throw .malformed("a block's number of chunks") }
        var chunks = [Chunk]()
        chunks.reserveCapacity(count)
        for _ in 0..<count {
            let kind = ChunkKind(rawValue: try reader.byte())
            let length = try reader.number()
            let id = ChunkID(exactly: try reader.bytes(ChunkID.byteCount))
            chunks.append(Chunk(kind: kind, length: length, id: id))
        }
        self.chunks = chunks
        guard reader.position == end else { throw .malformed("the length of a block's header") }
        if let problem { throw .malformed(problem) }
    }
}

/// Reads the parts of a header in order, never past its end.
private struct BlockHeaderReader {
    private let header: UnsafeRawBufferPointer
    private(set) var position: Int

    init(_ header: UnsafeRawBufferPointer, from position: Int) {
        self.header = header
        self.position = position
    }

    mutating func bytes(_ count: Int) throws(FormatError) -> UnsafeRawBufferPointer {
        guard header.count - position >= count else { throw .truncated }
        position += count
        return header.slice((position - count)..<position)
    }

    mutating func byte() throws(FormatError) -> UInt8 { try bytes(1)[0] }

    mutating func number() throws(FormatError) -> Int {
        guard let (value, end) = LEB128.number(in: header, at: position) else {
            throw .malformed("a number in a block's header")
        }
        position = end
        return value
    }
}
