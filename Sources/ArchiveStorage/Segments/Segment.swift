// One segment: its blocks, and its footer if it is sealed.

package import ArchiveFormat
internal import FileIO
package import SystemPackage
internal import Threading

/// An open segment.
///
/// Reads are allowed from any thread.
package final class Segment: Sendable {
    let bytes: any SegmentReading
    /// The archive's id, for a segment with a damaged header.
    private let archive: ArchiveID?
    private let known: Locked<Identity?>

    private struct Identity {
        let origin: BlockOrigin
        /// The segment's id, from its header; from its name if the header is damaged.
        let id: SegmentID?

        init(_ header: SegmentHeader) {
            origin = BlockOrigin(archive: header.archive, segment: header.segment)
            id = header.segment
        }

        init(named name: SegmentID?, _ archive: ArchiveID?) {
            origin = BlockOrigin(archive: archive ?? .random(), segment: name ?? .random())
            id = name
        }
    }

    /// Its name in messages.
    package var path: FilePath { bytes.path }

    /// Opens an existing segment; its header is read with the first block.
    ///
    /// - Parameter archive: the archive's id, for a segment with a damaged header.
    package init(_ bytes: any SegmentReading, of archive: ArchiveID? = nil) {
        self.bytes = bytes
        self.archive = archive
        known = Locked(nil)
    }

    /// Opens a segment that was just created.
    init(_ bytes: any SegmentReading, _ header: SegmentHeader) {
        self.bytes = bytes
        archive = header.archive
        known = Locked(Identity(header))
    }

    /// The ids of the archive and the segment, which its blocks' checksums cover.
    package var origin: BlockOrigin { identity.origin }

    private var identity: Identity {
        if let known = known.withLock({ $0 }) { return known }
        let name = bytes.path.lastComponent.flatMap { SegmentName(fileName: $0.string) }?.segment
        let found = Segment.header(bytes).map { Identity($0) } ?? Identity(named: name, archive)
        // Another reader may have been first: without a header, two of them may have different ids.
        return known.withLock { known in
            let kept = known ?? found
            known = kept
            return kept
        }
    }

    /// The header of a segment; nil if it is damaged.
    private static func header(_ segment: any SegmentReading) -> SegmentHeader? {
        var bytes = [UInt8](repeating: 0, count: SegmentHeader.byteCount)
        let count = try? bytes.withUnsafeMutableBytes { try segment.read(into: $0, at: 0) }
        return count == bytes.count ? try? bytes.withUnsafeBytes({ try SegmentHeader(decoding: $0) }) : nil
    }

    /// What the first block says about the archive; nil if it is no opening of this segment.
    package func opening() throws(StorageError) -> SegmentOpening? {
        let offset = SegmentHeader.byteCount
        guard try length() > offset else { return nil }
        let (header, payload) = try block(at: offset)
        guard header.isOpening, header.obstacle == nil, header.bases.isEmpty else { return nil }
        let opening: SegmentOpening
        do {
            let raw = try BlockReader.unpack(payload, header, [])
            guard ChunkID(hashing: raw) == header.chunks[0].id else {
                throw FormatError.checksumMismatch("a segment's opening")
            }
            opening = try SegmentOpening(decoding: raw)
        } catch {
            throw StorageError.damaged(path, offset: offset, error as? FormatError ?? .malformed("\(error)"))
        }
        return opening.segment == identity.id ? opening : nil
    }

    /// The place of the block at `offset`, which the block's checksum covers.
    package func place(_ offset: Int) -> BlockPlace { BlockPlace(in: origin, offset: offset) }

    /// The segment's length in bytes.
    package func length() throws(StorageError) -> Int { try bytes.length() }

    /// Reads the header and checks that it is of this format.
    package func readHeader() throws(StorageError) -> SegmentHeader {
        let bytes = try read(at: 0, count: SegmentHeader.byteCount)
        return try decoding(at: 0) { () throws(FormatError) in
            try bytes.withRawBytes { bytes throws(FormatError) in try SegmentHeader(decoding: bytes) }
        }
    }

    /// The header of the block at `offset`, without its payload.
    package func blockHeader(at offset: Int) throws(StorageError) -> BlockHeader {
        try block(at: offset, withPayload: false).header
    }

    /// Reads the block at `offset` and verifies its checksums.
    package func block(at offset: Int) throws(StorageError) -> (header: BlockHeader, payload: [UInt8]) {
        try block(at: offset, withPayload: true)
    }

    /// Most blocks fit into one read of this many bytes.
    private static let firstRead = 16 << 10

    private func block(
        at offset: Int, withPayload: Bool
    ) throws(StorageError) -> (header: BlockHeader, payload: [UInt8]) {
        var bytes = try read(at: offset, atMost: Segment.firstRead)
        let headerLength = try decoding(at: offset) { () throws(FormatError) in
            try bytes.withRawBytes { bytes throws(FormatError) in try BlockHeader.headerLength(ofPrefix: bytes) }
        }
        if bytes.count < headerLength { bytes = try read(at: offset, count: headerLength) }
        let header = try decoding(at: offset) { () throws(FormatError) in
            try bytes.withRawBytes { bytes throws(FormatError) in
                try BlockHeader(
                    decoding: UnsafeRawBufferPointer(rebasing: bytes[..<headerLength]), at: place(offset))
            }
        }
        guard withPayload else { return (header, []) }
        let payload: [UInt8]
        if bytes.count >= header.blockLength {
            payload = Array(bytes[headerLength..<header.blockLength])
        } else {
            payload = try read(at: offset + headerLength, count: header.storedLength)
        }
        try decoding(at: offset) { () throws(FormatError) in
            try payload.withRawBytes { payload throws(FormatError) in try header.verify(payload: payload) }
        }
        return (header, payload)
    }

    /// Exactly `count` bytes from `offset`.
    package func read(at offset: Int, count: Int) throws(StorageError) -> [UInt8] {
        let bytes = try read(at: offset, atMost: count)
        guard bytes.count == count else { throw StorageError.damaged(path, offset: offset, .truncated) }
        return bytes
    }

    /// Up to `count` bytes from `offset`, fewer only at the segment's end.
    func read(at offset: Int, atMost count: Int) throws(StorageError) -> [UInt8] {
        var failure: StorageError?
        let read = [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
            do throws(StorageError) {
                length = try bytes.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return read
    }

    /// Runs `body`, which decodes the bytes at `offset`; its errors then name the place.
    func decoding<Value: ~Copyable>(
        at offset: Int, _ body: () throws(FormatError) -> Value
    ) throws(StorageError) -> Value {
        do { return try body() } catch {
            if case .unknownVersion = error {
                throw StorageError(.newerFormat, path, "segment \(path): \(error)", remedy: "use a newer archiver")
            }
            throw StorageError.damaged(path, offset: offset, error)
        }
    }

    // MARK: The footer

    private static let hashedStep = 1 << 20

    /// The trailer of a sealed segment; nil if it has none.
    package func trailer() throws(StorageError) -> SegmentFooter.Trailer? {
        let count = SegmentFooter.trailerByteCount
        let length = try length()
        guard length >= SegmentHeader.byteCount + count else { return nil }
        let bytes = try read(at: length - count, count: count)
        guard let trailer = try? bytes.withUnsafeBytes({ try SegmentFooter.Trailer(decoding: $0) }),
            trailer.indexOffset + trailer.indexLength + count == length
        else { return nil }
        return trailer
    }

    /// The blocks of a sealed segment, read from its index; nil if it is not sealed.
    ///
    /// - Throws: `StorageError` if the index is damaged; the blocks may still be undamaged.
    package func index() throws(StorageError) -> [SegmentFooter.Block]? {
        guard let trailer = try trailer() else { return nil }
        let bytes = try read(at: trailer.indexOffset, count: trailer.indexLength)
        return try decoding(at: trailer.indexOffset) { () throws(FormatError) in
            try bytes.withRawBytes { bytes throws(FormatError) in
                try SegmentFooter.blocks(decodingIndex: bytes, trailer: trailer, in: origin)
            }
        }
    }

    /// Whether every byte of a sealed segment is unchanged since sealing; nil if it is not sealed.
    package func isAsSealed() throws(StorageError) -> Bool? {
        guard let trailer = try trailer() else { return nil }
        let end = trailer.indexOffset + trailer.indexLength + SegmentFooter.Trailer.hashedByteCount
        return try hash(upTo: end).finish() == trailer.segmentHash
    }

    /// The hash of the first `length` bytes, not finished yet.
    ///
    /// - Parameter pause: called now and then during the work.
    func hash(upTo length: Int, pause: () -> Void = {}) throws(StorageError) -> SegmentHash {
        var hash = SegmentHash()
        var offset = 0
        while offset < length {
            let bytes = try read(at: offset, count: min(Segment.hashedStep, length - offset))
            hash.update(bytes)
            offset += bytes.count
            pause()
        }
        return hash
    }
}

extension Segment {
    /// Whether a block at or after `offset`, where one begins, says that segments were dropped.
    ///
    /// If a header cannot be read, the answer is what the blocks before it say.
    package func hasDroppedSegments(from offset: Int) throws(StorageError) -> Bool {
        let scan = try SegmentScan(
            of: self, from: max(offset, SegmentHeader.byteCount), verifyingPayloads: false, passingDamage: false)
        return scan.records.contains { $0.kind == .droppedSegments }
    }
}
