// Appends blocks to a segment that it has locked, and makes them durable.

internal import ArchiveFormat
internal import FileIO
internal import SystemPackage

/// The only writer of one segment, for as long as the value lives.
///
/// Unchecked: the store hands it to one commit at a time, and the commit uses it under its mutex.
final class SegmentWriter: @unchecked Sendable {
    let listed: ListedSegment
    private let segment: Segment
    private let bytes: any SegmentBytes
    /// Bytes written, indexed or not.
    private(set) var length: Int
    /// Bytes known to be durable and indexed.
    private(set) var indexedLength: Int
    /// Bytes that the kernel was asked to begin writing to the disk.
    private var begunLength: Int

    /// Writing begins after this many bytes, so that a later sync has little left to do.
    private static let writingBytes = 8 << 20
    /// A footer is written in pieces of about this many bytes.
    private static let footerStep = 1 << 20

    /// A segment that has grown to this many bytes is sealed, also in the middle of a commit.
    private let fullBytes: Int
    /// A segment that has grown to this many bytes is sealed at the end of a commit.
    private let sealingBytes: Int
    private let counters: StorageCounters

    /// Takes over a segment that is locked and has no torn tail.
    init(_ listed: ListedSegment, _ segment: Segment, _ bytes: any SegmentBytes, of store: ArchiveStore) {
        self.listed = listed
        self.segment = segment
        self.bytes = bytes
        fullBytes = store.manifest.parameters.segmentBytes
        sealingBytes = store.sealingBytes
        counters = store.counters
        length = listed.indexedLength
        indexedLength = listed.indexedLength
        begunLength = listed.indexedLength
    }

    /// Creates a new segment, durable under its name.
    ///
    /// - Parameter attempts: how many names to try while another process interferes.
    static func create(in store: ArchiveStore, attempts: Int = 8) throws(StorageError) -> SegmentWriter {
        let header = SegmentHeader(archive: store.manifest.id, segment: .random(), created: .now)
        let name = SegmentName(created: header.created, segment: header.segment)
        let others = try store.catalogue.segmentsToName(atMost: SegmentOpening.limit)
        let opening = SegmentOpening(of: header.segment, store.manifest, others: others)
        let block = try store.encode([RawChunk(kind: .opening, bytes: opening.encoded())])
        let place = BlockPlace(
            in: BlockOrigin(archive: header.archive, segment: header.segment), offset: SegmentHeader.byteCount)
        let start = header.encoded() + block.bytes(at: place)
        guard let bytes = try store.writable().create(name, start) else {
            guard attempts > 1 else {
                let path = store.segments.path(of: name.path)
                throw StorageError(.system, path, "cannot lock the new segment \(path)", remedy: "try again")
            }
            return try create(in: store, attempts: attempts - 1)
        }
        let row = try store.catalogue.enterSegment(
            name.path, name: header.segment, indexedLength: start.count)
        return SegmentWriter(row, Segment(bytes, header), bytes, of: store)
    }

    var isFull: Bool { length >= fullBytes }

    /// Whether no further commit should be appended.
    var isLargeEnough: Bool { length >= sealingBytes }

    /// Appends a block; it is durable after `synchronize`.
    ///
    /// - Returns: the block's offset.
    func append(_ block: EncodedBlock) throws(StorageError) -> Int {
        let offset = length
        let bytes = block.bytes(at: segment.place(offset))
        guard offset <= ArchiveManifest.Parameters.segmentBytesLimit else {
            throw StorageError(
                .damaged, segment.path, "segment \(segment.path) has \(offset) bytes and cannot be sealed",
                remedy: Advice.checkArchive.text)
        }
        do { try self.bytes.write(bytes, at: offset) } catch {
            // A partly written block must not stay in front of later blocks.
            try? self.bytes.truncate(to: offset)
            throw error
        }
        length = offset + bytes.count
        if length - begunLength >= SegmentWriter.writingBytes {
            self.bytes.beginWriting(begunLength..<length)
            begunLength = length
        }
        counters.countWritten(block.header)
        return offset
    }

    /// Whether the segment is no longer at its path: what is appended would be lost.
    private(set) var isLost = false

    /// Makes everything appended durable, and verifies that the file is still at its path.
    func synchronize() throws(StorageError) {
        counters.synchronizations.add()
        try bytes.synchronize()
        guard try !bytes.isInPlace() else { return }
        isLost = true
        throw StorageError(
            .noArchive, segment.path, "the segment \(segment.path) was removed or replaced while it was written",
            remedy: "is the archive's disk mounted? put the archive back; the changes are captured again")
    }

    /// Records that everything before `length` is durable and indexed.
    func markIndexed(_ length: Int) {
        indexedLength = max(indexedLength, length)
    }

    /// Truncates what was appended since the last indexing.
    ///
    /// A transaction may have been committed although it reported an error, so blocks in the catalogue stay.
    func rollBack(_ catalogue: Catalogue) throws(StorageError) {
        guard length > indexedLength else { return }
        guard let known = try catalogue.segment(listed.number) else { return }
        indexedLength = max(indexedLength, known.indexedLength)
        try bytes.truncate(to: indexedLength)
        length = indexedLength
        begunLength = indexedLength
    }

    /// Writes the footer and marks the segment as sealed in the catalogue; it never changes again.
    ///
    /// Everything appended must be indexed. If a block's header is damaged, the segment gets no footer: the catalogue
    /// records the damage, nothing more is appended, and writers go on in a new segment.
    ///
    /// - Parameter pause: called now and then during the work.
    func seal(_ catalogue: Catalogue, pause: () -> Void = {}) throws(StorageError) {
        do throws(StorageError) {
            let end = try writeFooter(pause)
            try synchronize()
            length = end
            indexedLength = end
        } catch {
            try? bytes.truncate(to: length)
            guard error.code == .damaged else { throw error }
            try catalogue.record("\(error.message); the segment is not sealed", ofSegment: listed.path)
        }
        try catalogue.markSealed(listed.number, length: length)
    }

    /// Writes the footer after the last block, piece by piece.
    ///
    /// - Returns: the footer's end.
    private func writeFooter(_ pause: () -> Void) throws(StorageError) -> Int {
        var footer = SegmentFooter.Encoder(in: segment.origin, content: try segment.hash(upTo: length, pause: pause))
        var piece: [UInt8] = []
        var (offset, end) = (SegmentHeader.byteCount, length)
        while offset < length {
            let header = try segment.blockHeader(at: offset)
            footer.append(header, to: &piece)
            offset += header.blockLength
            guard piece.count >= SegmentWriter.footerStep else { continue }
            try bytes.write(piece, at: end)
            end += piece.count
            piece.removeAll(keepingCapacity: true)
        }
        footer.appendTrailer(to: &piece)
        try bytes.write(piece, at: end)
        return end + piece.count
    }
}
