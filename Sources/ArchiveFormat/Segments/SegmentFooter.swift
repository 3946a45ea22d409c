// The end of a sealed segment. It repeats all block headers: one read finds all chunks, and a damaged header hides
// nothing after it. A checksum of the whole segment proves that a copy is complete.

internal import Crypto

/// The end of a sealed segment: the index of its blocks, and the trailer that locates the index.
package enum SegmentFooter {
    /// A block in the index.
    package struct Block: Hashable, Sendable {
        /// Bytes from the segment's start to the block.
        package let offset: Int
        package let header: BlockHeader

        package init(offset: Int, header: BlockHeader) {
            self.offset = offset
            self.header = header
        }
    }

    /// The first bytes of the index.
    package static let indexMagic = Array("AIDX".utf8)

    /// Encodes a footer block by block: that of a million small files has 40 MB.
    package struct Encoder {
        private let origin: BlockOrigin
        private var blockCount = 0
        private var indexOffset = SegmentHeader.byteCount
        private var indexLength = 0
        private var indexHash = SegmentHash()
        private var segmentHash: SegmentHash

        /// - Parameters:
        ///   - origin: the segment, as the blocks' checksums cover it.
        ///   - content: the hash of the segment up to the end of the last block.
        package init(in origin: BlockOrigin, content: SegmentHash) {
            self.origin = origin
            segmentHash = content
        }

        /// Appends the bytes of the next block to `bytes`.
        ///
        /// Blocks have no gaps; the first directly follows the header of the segment.
        package mutating func append(_ header: BlockHeader, to bytes: inout [UInt8]) {
            appendMagic(to: &bytes)
            append(header.encoded(at: BlockPlace(in: origin, offset: indexOffset)), to: &bytes)
            indexOffset += header.blockLength
            blockCount += 1
        }

        /// Appends the last bytes of the segment.
        package mutating func appendTrailer(to bytes: inout [UInt8]) {
            appendMagic(to: &bytes)
            var trailer = Trailer(
                indexOffset: indexOffset, indexLength: indexLength, blockCount: blockCount,
                indexHash: indexHash.finish(), segmentHash: ChunkID(hashing: []))
            segmentHash.update(Array(trailer.encoded().prefix(Trailer.hashedByteCount)))
            trailer.segmentHash = segmentHash.finish()
            bytes += trailer.encoded()
        }

        private mutating func appendMagic(to bytes: inout [UInt8]) {
            if indexLength == 0 { append(indexMagic, to: &bytes) }
        }

        private mutating func append(_ part: [UInt8], to bytes: inout [UInt8]) {
            indexHash.update(part)
            segmentHash.update(part)
            indexLength += part.count
            bytes += part
        }
    }

    /// Reads an index.
    ///
    /// - Parameters:
    ///   - index: the bytes that `trailer` locates.
    ///   - trailer: the last bytes of the segment.
    ///   - origin: the segment, as the blocks' checksums cover it.
    /// - Throws: `FormatError` for any bytes that `Encoder` does not make.
    package static func blocks(
        decodingIndex index: UnsafeRawBufferPointer, trailer: Trailer, in origin: BlockOrigin
    ) throws(FormatError) -> [Block] {
        guard index.count == trailer.indexLength else { throw .truncated }
        guard ChunkID(hashing: index) == trailer.indexHash else { throw .checksumMismatch("a segment's index") }
        guard index.starts(with: indexMagic) else { throw .malformed("a segment's index") }
        var blocks: [Block] = []
        var offset = SegmentHeader.byteCount
        var position = indexMagic.count
        while position < index.count {
            let rest = index.slice(position..<index.count)
            let length = try BlockHeader.headerLength(ofPrefix: rest)
            guard length <= rest.count else { throw .truncated }
            let place = BlockPlace(in: origin, offset: offset)
            let header = try BlockHeader(decoding: rest.slice(0..<length), at: place)
            blocks.append(Block(offset: offset, header: header))
            offset += header.blockLength
            position += length
        }
        guard blocks.count == trailer.blockCount, offset == trailer.indexOffset else {
            throw .malformed("a segment's index that does not match its trailer")
        }
        return blocks
    }
}

/// Computes the SHA-256 of a segment piece by piece.
package struct SegmentHash: Sendable {
    private var hash = SHA256()

    package init() {}

    package mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { hash.update(bufferPointer: $0) } }

    package func finish() -> ChunkID { Array(hash.finalize()).withUnsafeBytes { ChunkID(exactly: $0) } }
}

// MARK: - Trailer

extension SegmentFooter {
    /// Bytes of an encoded trailer.
    package static let trailerByteCount = 96

    /// The last bytes of a sealed segment: the place of the index, and checksums of the index and the segment.
    package struct Trailer: Hashable, Sendable {
        package let indexOffset: Int
        package let indexLength: Int
        package let blockCount: Int
        /// SHA-256 of the index.
        package let indexHash: ChunkID
        /// SHA-256 of the whole segment before this field.
        package fileprivate(set) var segmentHash: ChunkID

        /// Bytes of the trailer that `segmentHash` covers.
        package static let hashedByteCount = Offset.segmentHash
        private static let magic = Array("ARCHEND\n".utf8)

        /// Offsets of the fields; all integers are little-endian.
        private enum Offset {
            static let indexOffset = 0
            static let indexLength = 8
            static let blockCount = 16
            static let zero = 20
            static let indexHash = 24
            static let segmentHash = 56
            static let magic = 88
        }

        fileprivate init(
            indexOffset: Int, indexLength: Int, blockCount: Int, indexHash: ChunkID, segmentHash: ChunkID
        ) {
            self.indexOffset = indexOffset
            self.indexLength = indexLength
            self.blockCount = blockCount
            self.indexHash = indexHash
            self.segmentHash = segmentHash
        }

        fileprivate func encoded() -> [UInt8] {
            var bytes = [UInt8]()
            bytes.appendLittleEndian(UInt64(indexOffset))
            bytes.appendLittleEndian(UInt64(indexLength))
            bytes.appendLittleEndian(UInt32(blockCount))
            bytes.appendLittleEndian(UInt32(0))
            bytes += indexHash.bytes
            bytes += segmentHash.bytes
            bytes += Trailer.magic
            return bytes
        }

        /// Reads the last `trailerByteCount` bytes of a segment.
        ///
        /// - Throws: `truncated` for another number of bytes; `malformed` if the segment is not sealed or a field of
        ///   the trailer is out of range.
        package init(decoding bytes: UnsafeRawBufferPointer) throws(FormatError) {
            guard bytes.count == trailerByteCount else { throw .truncated }
            guard bytes.slice(Offset.magic..<trailerByteCount).elementsEqual(Trailer.magic) else {
                throw .malformed("the segment is not sealed")
            }
            guard bytes.littleEndian(at: Offset.zero, as: UInt32.self) == 0 else {
                throw .malformed("a trailer's reserved bytes")
            }
            // Segments are far smaller than 2^62 bytes, so sums of these cannot overflow when the index is located.
            let limit: UInt64 = 1 << 62
            let offset = bytes.littleEndian(at: Offset.indexOffset, as: UInt64.self)
            let length = bytes.littleEndian(at: Offset.indexLength, as: UInt64.self)
            guard offset < limit, length < limit, offset >= UInt64(SegmentHeader.byteCount),
                length >= UInt64(indexMagic.count)
            else { throw .malformed("the place of a segment's index") }
            indexOffset = Int(offset)
            indexLength = Int(length)
            blockCount = Int(bytes.littleEndian(at: Offset.blockCount, as: UInt32.self))
            indexHash = ChunkID(exactly: bytes.slice(Offset.indexHash..<Offset.segmentHash))
            segmentHash = ChunkID(exactly: bytes.slice(Offset.segmentHash..<Offset.magic))
        }
    }
}
