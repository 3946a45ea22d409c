// The end of a sealed segment: a table of its blocks, so that a copy proves to be whole and a damaged header hides
// nothing behind it.

/// What follows the last block of a sealed segment: the index of its blocks, and the trailer that finds it.
package enum SegmentFooter {
    /// A block as the index names it.
    package struct Block: Hashable, Sendable {
        /// Bytes from the segment's start to the block.
        package let offset: Int
        package let headerLength: Int
        package let storedLength: Int
        /// The checksum that ends the block's header.
        package let headerChecksum: UInt32

        package init(_ header: BlockHeader, at place: BlockPlace) {
            self.init(
                offset: place.offset, headerLength: header.headerLength, storedLength: header.storedLength,
                headerChecksum: header.checksum(at: place))
        }

        fileprivate init(offset: Int, headerLength: Int, storedLength: Int, headerChecksum: UInt32) {
            self.offset = offset
            self.headerLength = headerLength
            self.storedLength = storedLength
            self.headerChecksum = headerChecksum
        }
    }

    /// How the index begins.
    package static let indexMagic = Array("AIDX".utf8)

    /// Where the fields of a row of the index lie.
    private enum RowOffset {
        static let headerLength = 0
        static let storedLength = 4
        static let headerChecksum = 8
        static let end = 12
    }

    /// The bytes that seal a segment.
    ///
    /// - Parameters:
    ///   - blocks: the segment's blocks: the first right after the header, each right after the one before.
    ///   - indexOffset: the end of the last block, where these bytes will stand.
    package static func encoded(blocks: [Block], indexOffset: Int) -> [UInt8] {
        var bytes = indexMagic
        for block in blocks {
            bytes.appendLittleEndian(UInt32(block.headerLength))
            bytes.appendLittleEndian(UInt32(block.storedLength))
            bytes.appendLittleEndian(block.headerChecksum)
        }
        let trailer = Trailer(
            indexOffset: indexOffset, indexLength: bytes.count, blockCount: blocks.count,
            indexHash: ChunkID(hashing: bytes))
        return bytes + trailer.encoded()
    }

    /// Reads an index.
    ///
    /// - Parameters:
    ///   - index: the bytes that `trailer` points to.
    ///   - trailer: the last bytes of the segment.
    /// - Throws: `FormatError` for anything but what `encoded` gives.
    package static func blocks(
        decodingIndex index: UnsafeRawBufferPointer, trailer: Trailer
    ) throws(FormatError) -> [Block] {
        guard index.count == trailer.indexLength else { throw .truncated }
        guard ChunkID(hashing: index) == trailer.indexHash else { throw .checksumMismatch("a segment's index") }
        guard index.starts(with: indexMagic), index.count == indexMagic.count + trailer.blockCount * RowOffset.end
        else { throw .malformed("a segment's index") }
        var blocks: [Block] = []
        var offset = SegmentHeader.byteCount
        for row in stride(from: indexMagic.count, to: index.count, by: RowOffset.end) {
            let block = Block(
                offset: offset,
                headerLength: Int(index.littleEndian(at: row + RowOffset.headerLength, as: UInt32.self)),
                storedLength: Int(index.littleEndian(at: row + RowOffset.storedLength, as: UInt32.self)),
                headerChecksum: index.littleEndian(at: row + RowOffset.headerChecksum, as: UInt32.self))
            blocks.append(block)
            offset += block.headerLength + block.storedLength
        }
        guard offset == trailer.indexOffset else {
            throw .malformed("a segment's index that does not fit its trailer")
        }
        return blocks
    }
}

// MARK: - Trailer

extension SegmentFooter {
    /// Bytes of an encoded trailer.
    package static let trailerByteCount = 64

    /// The last bytes of a sealed segment: where the index is, and its hash.
    package struct Trailer: Hashable, Sendable {
        package let indexOffset: Int
        package let indexLength: Int
        package let blockCount: Int
        /// SHA-256 of the index.
        package let indexHash: ChunkID

        private static let magic = Array("ARCHEND\n".utf8)

        /// Where the fields lie; all integers are little-endian.
        private enum Offset {
            static let indexOffset = 0
            static let indexLength = 8
            static let blockCount = 16
            static let zero = 20
            static let indexHash = 24
            static let magic = 56
        }

        fileprivate init(indexOffset: Int, indexLength: Int, blockCount: Int, indexHash: ChunkID) {
            self.indexOffset = indexOffset
            self.indexLength = indexLength
            self.blockCount = blockCount
            self.indexHash = indexHash
        }

        fileprivate func encoded() -> [UInt8] {
            var bytes = [UInt8]()
            bytes.appendLittleEndian(UInt64(indexOffset))
            bytes.appendLittleEndian(UInt64(indexLength))
            bytes.appendLittleEndian(UInt32(blockCount))
            bytes.appendLittleEndian(UInt32(0))
            bytes += indexHash.bytes
            bytes += Trailer.magic
            return bytes
        }

        /// Reads the last `trailerByteCount` bytes of a segment.
        ///
        /// - Throws: `malformed` where the segment is not sealed or its trailer cannot be true.
        package init(decoding bytes: UnsafeRawBufferPointer) throws(FormatError) {
            guard bytes.count == trailerByteCount else { throw .truncated }
            guard bytes.slice(Offset.magic..<trailerByteCount).elementsEqual(Trailer.magic) else {
                throw .malformed("the segment is not sealed")
            }
            guard bytes.littleEndian(at: Offset.zero, as: UInt32.self) == 0 else {
                throw .malformed("a trailer's reserved bytes")
            }
            // Segments are far below 2^62 bytes; so no sum of these overflows where the index is looked for.
            let limit: UInt64 = 1 << 62
            let offset = bytes.littleEndian(at: Offset.indexOffset, as: UInt64.self)
            let length = bytes.littleEndian(at: Offset.indexLength, as: UInt64.self)
            guard offset < limit, length < limit, offset >= UInt64(SegmentHeader.byteCount),
                length >= UInt64(indexMagic.count)
            else { throw .malformed("the place of a segment's index") }
            indexOffset = Int(offset)
            indexLength = Int(length)
            blockCount = Int(bytes.littleEndian(at: Offset.blockCount, as: UInt32.self))
            indexHash = ChunkID(exactly: bytes.slice(Offset.indexHash..<Offset.magic))
        }
    }
}
