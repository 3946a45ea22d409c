// Reads a segment's block headers one after the other: how the catalogue is made, and how a torn tail is found.

package import ArchiveFormat

/// What a scan of a segment found.
package struct SegmentScan: Sendable {
    /// A place where no whole block begins although one should.
    package struct Damage: Sendable {
        package let offset: Int
        package let reason: String
    }

    package private(set) var chunks: [(id: ChunkID, offset: Int)] = []
    package private(set) var snapshots: [(id: SnapshotID, offset: Int, ownBytes: Int)] = []
    /// Chunks that hold gaps.
    package private(set) var gaps: [ChunkID] = []
    package private(set) var states: [(id: StateID, ownBytes: Int)] = []
    /// Chunks that say which records are forgotten.
    package private(set) var forgotten: [ChunkID] = []
    /// Chunks that hold operations.
    package private(set) var operations: [OperationID] = []
    /// Damage that whole blocks follow; only where the scan passes over damage.
    package private(set) var damage: [Damage] = []
    /// Where a tail begins that holds no whole block: an interrupted write.
    package private(set) var tornTail: Damage?
    /// Whether the footer follows the blocks.
    package private(set) var isSealed = false
    /// The end of the last whole block.
    package private(set) var length: Int

    /// Scans `segment` from `start`, the offset of a block, to its end.
    ///
    /// - Parameters:
    ///   - verifyingPayloads: whether to check the payloads' checksums too; else only that they are there.
    ///   - passingDamage: whether to look for whole blocks behind one that is not.
    package init(
        of segment: SegmentFile, from start: Int, verifyingPayloads: Bool, passingDamage: Bool
    ) throws(StorageError) {
        length = start
        let fileLength = try segment.length()
        var offset = start
        var window = SegmentWindow(segment)
        while offset < fileLength {
            if try window.begins(with: SegmentFooter.indexMagic, at: offset) {
                isSealed = try SegmentScan.footer(of: segment)?.indexOffset == offset
                if !isSealed { tornTail = Damage(offset: offset, reason: "the footer is incomplete") }
                return
            }
            let reason: String
            do {
                let header = try window.blockHeader(at: offset, verifyingPayload: verifyingPayloads)
                if offset + header.blockLength <= fileLength {
                    add(header, at: offset)
                    offset += header.blockLength
                    length = offset
                    continue
                }
                reason = FormatError.truncated.description
            } catch  where error.code == .damaged {
                reason = error.message
            }
            let found = Damage(offset: offset, reason: reason)
            guard passingDamage, let next = try SegmentScan.nextBlock(in: segment, after: offset, fileLength) else {
                tornTail = found
                return
            }
            damage.append(found)
            offset = next
        }
    }

    /// Hands out the chunks, which are many, to be kept elsewhere.
    mutating func takeChunks() -> [(id: ChunkID, offset: Int)] {
        defer { chunks = [] }
        return chunks
    }

    private mutating func add(_ header: BlockHeader, at offset: Int) {
        for chunk in header.chunks {
            chunks.append((chunk.id, offset))
            // What kinds that came after this program mean, it need not know.
            switch chunk.kind {
            case .snapshot: snapshots.append((SnapshotID(chunk.id), offset, header.blockLength))
            case .gap: gaps.append(chunk.id)
            case .operation: operations.append(OperationID(chunk.id))
            case .state: states.append((StateID(chunk.id), header.blockLength))
            case .forgotten: forgotten.append(chunk.id)
            default: break
            }
        }
    }

    /// The trailer of a sealed segment; nil where it has none.
    package static func footer(of segment: SegmentFile) throws(StorageError) -> SegmentFooter.Trailer? {
        let count = SegmentFooter.trailerByteCount
        let fileLength = try segment.length()
        guard fileLength >= SegmentHeader.byteCount + count else { return nil }
        let bytes = try segment.read(at: fileLength - count, count: count)
        guard let trailer = try? bytes.withUnsafeBytes({ try SegmentFooter.Trailer(decoding: $0) }),
            trailer.indexOffset + trailer.indexLength + count == fileLength
        else { return nil }
        return trailer
    }

    /// The next offset behind `offset` at which a block or the footer's index begins; nil where none does.
    private static func nextBlock(
        in segment: SegmentFile, after offset: Int, _ fileLength: Int
    ) throws(StorageError) -> Int? {
        let window = 1 << 20
        let overlap = SegmentFooter.indexMagic.count - 1
        var start = offset + 1
        while start < fileLength {
            let bytes = try segment.read(at: start, atMost: window + overlap)
            for index in bytes.indices.dropLast(overlap) where bytes[index] == BlockHeader.magic[0] {
                let candidate = bytes[index...].prefix(BlockHeader.magic.count)
                let isBlock = candidate.elementsEqual(BlockHeader.magic)
                if isBlock, (try? segment.block(at: start + index)) != nil { return start + index }
                let isIndex = candidate.elementsEqual(SegmentFooter.indexMagic)
                if isIndex, try footer(of: segment)?.indexOffset == start + index { return start + index }
            }
            start += window
        }
        return nil
    }
}
