// Appends blocks to a segment of its own, and makes them durable.

internal import ArchiveFormat
internal import FileIO
internal import Glibc
internal import SystemPackage

/// The only writer of one segment, for as long as the value lives.
///
/// Unchecked, because it is handed from the store to one commit at a time, which uses it under its mutex.
final class SegmentWriter: @unchecked Sendable {
    let record: SegmentRecord
    private let file: SegmentFile
    /// Bytes written, indexed or not.
    private(set) var length: Int
    /// Bytes known to be durable and indexed.
    private(set) var indexedLength: Int
    /// Bytes that the kernel was asked to write to the disk meanwhile.
    private var begunLength: Int

    /// Whoever waits for the disk in the end finds most of it done.
    private static let writingBytes = 8 << 20

    /// A segment that has grown to this many bytes is sealed.
    private let fullBytes: Int
    private let counters: StorageCounters

    /// Takes over a segment whose lock is held and whose tail is whole.
    init(_ record: SegmentRecord, file: SegmentFile, fullBytes: Int, counters: StorageCounters) {
        self.record = record
        self.file = file
        self.fullBytes = fullBytes
        self.counters = counters
        length = record.indexedLength
        indexedLength = record.indexedLength
        begunLength = record.indexedLength
    }

    /// Begins a new segment, durable with its directories.
    ///
    /// - Parameter attempts: how often to begin anew where another process is in the way.
    static func create(
        in layout: ArchiveLayout, manifest: ArchiveManifest, catalogue: Catalogue, attempts: Int = 8
    ) throws(StorageError) -> SegmentWriter {
        let header = SegmentHeader(archive: manifest.id, segment: .random(), created: .now)
        let name = SegmentName(created: header.created, segment: header.segment)
        let folder = layout.segments.appending(name.folder)
        let path = folder.appending(name.fileName)
        let descriptor = try storing { () throws(FileError) in
            try Directory.create(folder, permissions: 0o700, durable: true)
            return try Descriptor.open(path, O_RDWR | O_CREAT | O_EXCL, permissions: 0o600)
        }
        let file = SegmentFile(at: path, owning: descriptor)
        // Between these two calls another process may take the empty file for one left behind, and remove it.
        guard file.tryLock(), try file.isLinked() else {
            guard attempts > 1 else {
                throw StorageError(.system, path, "cannot lock the new segment \(path)", remedy: "try again")
            }
            return try create(in: layout, manifest: manifest, catalogue: catalogue, attempts: attempts - 1)
        }
        do {
            try file.write(header.encoded(), at: 0)
            try file.synchronize()
            try storing { () throws(FileError) in
                try Descriptor.open(folder, O_RDONLY | O_DIRECTORY).synchronize(path: folder)
            }
        } catch {
            unlink(path.string)
            throw error
        }
        let record = try catalogue.enterSegment(
            name.path, indexedLength: SegmentHeader.byteCount)
        return SegmentWriter(
            record, file: file, fullBytes: manifest.parameters.segmentBytes, counters: catalogue.counters)
    }

    var isFull: Bool { length >= fullBytes }

    /// Appends a block; durable after `synchronize`.
    ///
    /// - Returns: the block's offset.
    func append(_ block: EncodedBlock) throws(StorageError) -> Int {
        let offset = length
        do { try file.write(block.bytes, at: offset) } catch {
            // What was written in part must not stand before later blocks.
            try? file.truncate(to: offset)
            throw error
        }
        length = offset + block.bytes.count
        if length - begunLength >= SegmentWriter.writingBytes {
            file.beginWriting(begunLength..<length)
            begunLength = length
        }
        counters.countWritten(block.header)
        return offset
    }

    /// Makes everything appended durable.
    func synchronize() throws(StorageError) {
        counters.synchronizations.add()
        try file.synchronize()
    }

    /// Notes that everything before `length` is durable and indexed.
    func markIndexed(_ length: Int) {
        indexedLength = max(indexedLength, length)
    }

    /// Takes back what was appended since it was last indexed.
    func rollBack() throws(StorageError) {
        guard length > indexedLength else { return }
        try file.truncate(to: indexedLength)
        length = indexedLength
        begunLength = indexedLength
    }

    /// Writes the footer and tells the catalogue; the segment never changes again.
    ///
    /// Everything appended is indexed.
    func seal(_ catalogue: Catalogue) throws(StorageError) {
        var blocks: [SegmentFooter.Block] = []
        var offset = SegmentHeader.byteCount
        while offset < length {
            let header = try file.blockHeader(at: offset)
            blocks.append(SegmentFooter.Block(header, at: offset))
            offset += header.blockLength
        }
        let footer = SegmentFooter.encoded(blocks: blocks, indexOffset: length)
        do {
            try file.write(footer, at: length)
            try synchronize()
        } catch {
            try? file.truncate(to: length)
            throw error
        }
        length += footer.count
        indexedLength = length
        try catalogue.markSealed(record.number, length: length)
    }
}
