// The header of a block: what is in it, how it is packed, and the checksums that prove both.

internal import Compression

/// The header of a block of chunks; the payload follows it at once in the segment.
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
    /// 0 without bases, else 1 + the greatest depth of the bases' blocks: how many blocks a read has to unpack.
    package let depth: Int
    /// Bytes of the payload once unpacked: the sum of the chunks' lengths.
    package let rawLength: Int
    /// Bytes of the payload in the segment.
    package let storedLength: Int
    /// CRC-32 of the payload in the segment.
    package let payloadChecksum: UInt32
    /// Chunks that the payload is a delta against, in order.
    package let bases: [ChunkID]
    /// The chunks in the block, in the order of their bytes in the raw payload.
    package let chunks: [Chunk]

    /// A header from its parts, which are within the limits of the format.
    package init(
        codec: Codec, depth: Int, rawLength: Int, storedLength: Int, payloadChecksum: UInt32, bases: [ChunkID],
        chunks: [Chunk]
    ) {
        self.codec = codec
        self.depth = depth
        self.rawLength = rawLength
        self.storedLength = storedLength
        self.payloadChecksum = payloadChecksum
        self.bases = bases
        self.chunks = chunks
    }

    /// Bytes of the encoded header.
    package var headerLength: Int { BlockHeader.headerLength(bases: bases.count, chunks: chunks.count) }

    /// Bytes of the whole block in the segment.
    package var blockLength: Int { headerLength + storedLength }

    /// Where the chunk at `index` lies in the raw payload.
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

    /// The rule that the header breaks; nil for a good one.
    private var problem: String? {
        if !(1...BlockHeader.chunkCountLimit).contains(chunks.count) { return "a block's number of chunks" }
        if bases.count > BlockHeader.baseCountLimit { return "a block's number of bases" }
        if rawLength > BlockHeader.rawLengthLimit { return "a block's raw length" }
        if bases.isEmpty != (codec != .delta) { return "a block's bases" }
        if bases.isEmpty != (depth == 0) || !(0...BlockHeader.depthLimit).contains(depth) { return "a block's depth" }
        switch codec {
        case .stored:
            if storedLength != rawLength { return "a stored block's length" }
        case .deflate, .delta:
            if storedLength > rawLength { return "a block that is longer packed than raw" }
        }
        return nil
    }
}

// MARK: - Bytes

extension BlockHeader {
    /// How a block begins.
    package static let magic = Array("ABLK".utf8)

    /// Where the fields of a header lie; all integers are little-endian.
    private enum Offset {
        static let magic = 0
        static let headerLength = 4
        static let storedLength = 8
        static let rawLength = 12
        static let codec = 16
        static let depth = 17
        static let baseCount = 18
        static let zero = 19
        static let chunkCount = 20
        static let payloadChecksum = 24
        static let bases = 28
    }

    /// Where the fields of a row of the chunk table lie.
    private enum RowOffset {
        static let kind = 0
        static let length = 1
        static let id = 5
        static let end = 37
    }

    /// Bytes before the bases: enough to know the length of the whole header.
    package static let fixedLength = Offset.bases
    private static let checksumLength = 4

    private static func headerLength(bases: Int, chunks: Int) -> Int {
        fixedLength + bases * ChunkID.byteCount + chunks * RowOffset.end + checksumLength
    }

    /// The checksum that ends the encoded header.
    package var checksum: UInt32 {
        encoded().withUnsafeBytes { $0.littleEndian(at: headerLength - BlockHeader.checksumLength, as: UInt32.self) }
    }

    /// The header's bytes.
    package func encoded() -> [UInt8] {
        var bytes = [UInt8]()
        bytes.reserveCapacity(headerLength)
        bytes += BlockHeader.magic
        bytes.appendLittleEndian(UInt32(headerLength))
        bytes.appendLittleEndian(UInt32(storedLength))
        bytes.appendLittleEndian(UInt32(rawLength))
        bytes.append(codec.rawValue)
        bytes.append(UInt8(depth))
        bytes.append(UInt8(bases.count))
        bytes.append(0)
        bytes.appendLittleEndian(UInt32(chunks.count))
        bytes.appendLittleEndian(payloadChecksum)
        for base in bases { base.withUnsafeBytes { bytes.append(contentsOf: $0) } }
        for chunk in chunks {
            bytes.append(chunk.kind.rawValue)
            bytes.appendLittleEndian(UInt32(chunk.length))
            chunk.id.withUnsafeBytes { bytes.append(contentsOf: $0) }
        }
        bytes.appendLittleEndian(bytes.withUnsafeBytes { crc32($0) })
        return bytes
    }

    /// The length of the header that starts with `prefix`.
    ///
    /// - Parameter prefix: at least the first `fixedLength` bytes; not proven by a checksum yet.
    /// - Throws: `truncated` for less; `malformed` where no header of sane length starts here.
    package static func headerLength(ofPrefix prefix: UnsafeRawBufferPointer) throws(FormatError) -> Int {
        if prefix.count < fixedLength { throw .truncated }
        guard prefix.slice(Offset.magic..<Offset.headerLength).elementsEqual(magic) else {
            throw .malformed("no block starts here")
        }
        let chunkCount = Int(prefix.littleEndian(at: Offset.chunkCount, as: UInt32.self))
        let baseCount = Int(prefix[Offset.baseCount])
        guard (1...chunkCountLimit).contains(chunkCount) else { throw .malformed("a block's number of chunks") }
        guard baseCount <= baseCountLimit else { throw .malformed("a block's number of bases") }
        let length = Int(prefix.littleEndian(at: Offset.headerLength, as: UInt32.self))
        guard length == headerLength(bases: baseCount, chunks: chunkCount) else {
            throw .malformed("the length of a block's header")
        }
        return length
    }

    /// Reads a header.
    ///
    /// - Parameter bytes: exactly the header, as long as `headerLength(ofPrefix:)` says.
    /// - Throws: `FormatError` for anything but the bytes that `encoded()` gives.
    package init(decoding bytes: UnsafeRawBufferPointer) throws(FormatError) {
        let length = try BlockHeader.headerLength(ofPrefix: bytes)
        if bytes.count < length { throw .truncated }
        guard bytes.count == length else { throw .malformed("bytes after a block's header") }
        let end = length - BlockHeader.checksumLength
        guard crc32(bytes.slice(0..<end)) == bytes.littleEndian(at: end, as: UInt32.self) else {
            throw .checksumMismatch("a block's header")
        }
        guard let codec = Codec(rawValue: bytes[Offset.codec]) else { throw .malformed("a block's codec") }
        guard bytes[Offset.zero] == 0 else { throw .malformed("a block's reserved byte") }

        let baseCount = Int(bytes[Offset.baseCount])
        let table = BlockHeader.fixedLength + baseCount * ChunkID.byteCount
        var bases = [ChunkID]()
        for start in stride(from: BlockHeader.fixedLength, to: table, by: ChunkID.byteCount) {
            bases.append(ChunkID(exactly: bytes.slice(start..<(start + ChunkID.byteCount))))
        }
        var chunks = [Chunk]()
        chunks.reserveCapacity((end - table) / RowOffset.end)
        var total = 0
        for start in stride(from: table, to: end, by: RowOffset.end) {
            let kind = ChunkKind(rawValue: bytes[start + RowOffset.kind])
            let length = Int(bytes.littleEndian(at: start + RowOffset.length, as: UInt32.self))
            total += length
            let id = ChunkID(exactly: bytes.slice((start + RowOffset.id)..<(start + RowOffset.end)))
            chunks.append(Chunk(kind: kind, length: length, id: id))
        }
        self.codec = codec
        self.bases = bases
        self.chunks = chunks
        depth = Int(bytes[Offset.depth])
        storedLength = Int(bytes.littleEndian(at: Offset.storedLength, as: UInt32.self))
        rawLength = Int(bytes.littleEndian(at: Offset.rawLength, as: UInt32.self))
        payloadChecksum = bytes.littleEndian(at: Offset.payloadChecksum, as: UInt32.self)
        guard rawLength == total else { throw .malformed("the sum of a block's chunks") }
        if let problem { throw .malformed(problem) }
    }
}
