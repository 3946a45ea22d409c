// Reads a segment's block headers one after the other: how the catalogue is made, and how a torn tail is found.

package import ArchiveFormat
package import SystemPackage

/// What a scan of a segment found.
package struct SegmentScan: Sendable {
    /// A place where no whole block begins although one should.
    package struct Damage: Sendable {
        package let offset: Int
        package let reason: String

        /// What is wrong and where, as a sentence.
        package func message(in segment: FilePath) -> String {
            let place = "block at byte \(offset) of \(segment): "
            return reason.hasPrefix(place) ? reason : place + reason
        }
    }

    package private(set) var chunks: [(id: ChunkID, offset: Int)] = []
    /// Chunks that mean something by themselves, of kinds that came after this program, too.
    package private(set) var records: [FoundRecord] = []
    /// Damage that whole blocks follow; only where the scan passes over damage.
    package private(set) var damage: [Damage] = []
    /// Damage in a segment that is not sealed, behind which no record is whole: an interrupted write, of which the disk
    /// has some parts.
    package private(set) var unfinished: [Damage] = []
    /// Where a tail begins that holds no whole block: an interrupted write.
    package private(set) var tornTail: Damage?
    /// Where the last block with a record begins.
    private var lastRecord: Int?
    /// Whether the footer follows the blocks.
    package private(set) var isSealed = false
    /// The end of the last whole block.
    package private(set) var length: Int

    /// Blocks begin below this offset: the catalogue keeps no greater ones, and no writer makes them.
    private static let offsetLimit = 1 << 32

    /// Scans `segment` from `start`, the offset of a block, to its end.
    ///
    /// - Parameters:
    ///   - verifyingPayloads: whether to check the payloads' checksums too; else only that they are there.
    ///   - passingDamage: whether to look for whole blocks behind one that is not.
    ///   - takeBlock: is given each whole block's header and offset; `chunks` stays empty.
    package init(
        of segment: Segment, from start: Int, verifyingPayloads: Bool, passingDamage: Bool,
        takeBlock: (BlockHeader, Int) throws(StorageError) -> Void
    ) throws(StorageError) {
        length = start
        try read(segment, verifyingPayloads: verifyingPayloads, passingDamage: passingDamage, takeBlock)
        if isSealed { return }
        let end = lastRecord ?? start
        unfinished = damage.filter { $0.offset >= end }
        damage.removeAll { $0.offset >= end }
    }

    private mutating func read(
        _ segment: Segment, verifyingPayloads: Bool, passingDamage: Bool,
        _ takeBlock: (BlockHeader, Int) throws(StorageError) -> Void
    ) throws(StorageError) {
        let fileLength = try segment.length()
        let end = min(fileLength, SegmentScan.offsetLimit)
        var offset = length
        var window = SegmentWindow(segment)
        while offset < end {
            let reason: String
            do {
                if try window.begins(with: SegmentFooter.indexMagic, at: offset) {
                    isSealed = try segment.trailer()?.indexOffset == offset
                    if !isSealed { tornTail = Damage(offset: offset, reason: "the footer is incomplete") }
                    return
                }
                let header = try window.blockHeader(at: offset, verifyingPayload: verifyingPayloads)
                if offset + header.blockLength <= fileLength {
                    add(header, at: offset)
                    try takeBlock(header, offset)
                    offset += header.blockLength
                    length = offset
                    continue
                }
                reason = FormatError.truncated.description
            } catch  where error.code == .damaged {
                reason = error.message
            }
            let found = Damage(offset: offset, reason: reason)
            guard passingDamage, let next = try SegmentScan.nextBlock(in: segment, after: offset, below: end) else {
                tornTail = found
                return
            }
            damage.append(found)
            offset = next
        }
        if fileLength > offset { tornTail = Damage(offset: offset, reason: "no block begins behind 4 GiB") }
    }

    /// Scans `segment` and keeps its chunks.
    package init(
        of segment: Segment, from start: Int, verifyingPayloads: Bool, passingDamage: Bool
    ) throws(StorageError) {
        var found: [(id: ChunkID, offset: Int)] = []
        try self.init(of: segment, from: start, verifyingPayloads: verifyingPayloads, passingDamage: passingDamage) {
            for chunk in $0.chunks { found.append((chunk.id, $1)) }
        }
        chunks = found
    }

    private mutating func add(_ header: BlockHeader, at offset: Int) {
        for chunk in header.chunks where chunk.kind.isRecord {
            lastRecord = offset
            records.append(
                FoundRecord(kind: chunk.kind, id: chunk.id, offset: offset, blockLength: header.blockLength))
        }
    }

    private static let searchBytes = 1 << 20

    /// The next offset behind `offset` at which a block or the footer's index begins; nil where none does.
    ///
    /// Holes, which may be long, and what cannot be read are passed over.
    private static func nextBlock(
        in segment: Segment, after offset: Int, below end: Int
    ) throws(StorageError) -> Int? {
        let overlap = SegmentFooter.indexMagic.count - 1
        var start = offset + 1
        while let data = try segment.bytes.nextData(from: start, below: end) {
            // The first bytes of a block are no zeros, so none begins in a hole.
            start = data.lowerBound
            while start < data.upperBound {
                if let found = try block(in: segment, from: start, overlap) { return found }
                start += searchBytes
            }
        }
        return nil
    }

    /// The first offset in the `searchBytes` from `start` at which a block or the footer's index begins.
    private static func block(
        in segment: Segment, from start: Int, _ overlap: Int
    ) throws(StorageError) -> Int? {
        let bytes: [UInt8]
        do { bytes = try segment.read(at: start, atMost: searchBytes + overlap) } catch {
            guard error.code == .damaged else { throw error }
            return nil
        }
        for index in bytes.indices.dropLast(overlap) where bytes[index] == BlockHeader.magic[0] {
            let candidate = bytes[index...].prefix(BlockHeader.magic.count)
            let isBlock = candidate.elementsEqual(BlockHeader.magic)
            if isBlock, (try? segment.block(at: start + index)) != nil { return start + index }
            let isIndex = candidate.elementsEqual(SegmentFooter.indexMagic)
            if isIndex, try segment.trailer()?.indexOffset == start + index { return start + index }
        }
        return nil
    }
}
