// Scans a segment's block headers: for building the catalogue and finding a torn tail.

package import ArchiveFormat
package import SystemPackage

/// The result of scanning a segment.
package struct SegmentScan: Sendable {
    /// An offset where a block should begin and no valid one does.
    package struct Damage: Sendable {
        package let offset: Int
        package let reason: String

        /// The damage and its place, as a sentence.
        package func message(in segment: FilePath) -> String {
            let place = "block at byte \(offset) of \(segment): "
            return reason.hasPrefix(place) ? reason : place + reason
        }
    }

    package private(set) var chunks: [(id: ChunkID, offset: Int)] = []
    /// Chunks that are records, also of kinds that this program does not know.
    package private(set) var records: [FoundRecord] = []
    /// Damage with valid blocks after it; only found if the scan passes damage.
    package private(set) var damage: [Damage] = []
    /// Damage in an unsealed segment with no valid record after it: an interrupted write that reached the disk in
    /// parts.
    package private(set) var unfinished: [Damage] = []
    /// Where a tail without any valid block begins: an interrupted write.
    package private(set) var tornTail: Damage?
    /// Damage after which the search for blocks was given up: what follows is not known.
    package private(set) var unsearched: Damage?
    /// The bytes of headers and blocks that the search after damage has looked at.
    package private(set) var searchedBytes = 0
    /// The offset of the last block with a record.
    private var lastRecord: Int?
    /// Whether a footer follows the blocks.
    package private(set) var isSealed = false
    /// The end of the last valid block.
    package private(set) var length: Int

    /// Blocks begin below this offset: the catalogue cannot store greater ones, and no writer makes them.
    private static let offsetLimit = 1 << 32

    /// Scans `segment` from `start`, the offset of a block, to its end.
    ///
    /// - Parameters:
    ///   - verifyingPayloads: whether to verify the payloads' checksums too; otherwise only their lengths are checked.
    ///   - passingDamage: whether to search for valid blocks after damage.
    ///   - takeBlock: called with each valid block's header and offset; `chunks` stays empty.
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
            // A forged segment may have a header everywhere, each very long or with a long payload, and none right.
            let mostBytes = SegmentScan.leastSearchBytes + SegmentScan.searchFactor * fileLength
            guard passingDamage, let next = try nextBlock(in: segment, after: offset, below: end, mostBytes) else {
                if searchedBytes >= mostBytes { unsearched = found } else { tornTail = found }
                return
            }
            damage.append(found)
            offset = next
        }
        if fileLength > offset { tornTail = Damage(offset: offset, reason: "blocks must begin below 4 GiB") }
    }

    /// Scans `segment` and collects its chunks in `chunks`.
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
        if header.isOpening, offset == SegmentHeader.byteCount { return }
        let found = FoundRecord.all(in: header, at: offset)
        if found.isEmpty { return }
        lastRecord = offset
        records += found
    }

    private static let searchBytes = 1 << 20
    /// Behind damage, so many bytes are looked at, and so many times the segment's length, at most to find blocks.
    package static let leastSearchBytes = 256 << 20
    package static let searchFactor = 4

    /// The next offset after `offset` at which a block or the footer's index begins; nil if there is none.
    ///
    /// Holes, which may be long, and unreadable parts are skipped.
    private mutating func nextBlock(
        in segment: Segment, after offset: Int, below end: Int, _ mostBytes: Int
    ) throws(StorageError) -> Int? {
        var start = offset + 1
        while let data = try segment.bytes.nextData(from: start, below: end) {
            // A block does not begin with zeros, so none begins in a hole.
            start = data.lowerBound
            while start < data.upperBound {
                if let found = try block(in: segment, from: start, mostBytes) { return found }
                if searchedBytes >= mostBytes { return nil }
                start += SegmentScan.searchBytes
            }
        }
        return nil
    }

    /// The first offset in the `searchBytes` from `start` at which a block or the footer's index begins.
    private mutating func block(
        in segment: Segment, from start: Int, _ mostBytes: Int
    ) throws(StorageError) -> Int? {
        let bytes: [UInt8]
        do {
            bytes = try segment.read(at: start, atMost: SegmentScan.searchBytes + BlockHeader.prefixLength)
        } catch {
            guard error.code == .damaged else { throw error }
            return nil
        }
        for index in bytes.indices.prefix(SegmentScan.searchBytes) where bytes[index] == BlockHeader.magic[0] {
            let candidate = bytes[index...].prefix(BlockHeader.magic.count)
            if candidate.elementsEqual(BlockHeader.magic), let length = SegmentScan.headerLength(bytes[index...]) {
                searchedBytes += length
                if searchedBytes >= mostBytes { return nil }
                if let header = try? segment.blockHeader(at: start + index) {
                    searchedBytes += header.storedLength
                    if searchedBytes >= mostBytes { return nil }
                    if (try? segment.block(at: start + index)) != nil { return start + index }
                }
            }
            let isIndex = candidate.elementsEqual(SegmentFooter.indexMagic)
            if isIndex, try segment.trailer()?.indexOffset == start + index { return start + index }
        }
        return nil
    }

    /// The length that a header says it has; nil if it cannot be one.
    private static func headerLength(_ bytes: ArraySlice<UInt8>) -> Int? {
        Array(bytes.prefix(BlockHeader.prefixLength)).withUnsafeBytes { try? BlockHeader.headerLength(ofPrefix: $0) }
    }
}
