// Appends blocks to a segment of its own, and makes them durable.

internal import ArchiveFormat
internal import FileIO
internal import Glibc
internal import SystemPackage

/// The only writer of one segment, for as long as the value lives.
///
/// Unchecked, because it is handed from the store to one commit at a time, which uses it under its mutex.
final class SegmentWriter: @unchecked Sendable {
    let record: ListedSegment
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
    init(_ record: ListedSegment, file: SegmentFile, fullBytes: Int, counters: StorageCounters) {
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
        let file = try begin(path, header, in: folder)
        guard let file else {
            guard attempts > 1 else {
                throw StorageError(.system, path, "cannot lock the new segment \(path)", remedy: "try again")
            }
            return try create(in: layout, manifest: manifest, catalogue: catalogue, attempts: attempts - 1)
        }
        let record = try catalogue.enterSegment(
            name.path, name: header.segment, indexedLength: SegmentHeader.byteCount)
        return SegmentWriter(
            record, file: file, fullBytes: manifest.parameters.segmentBytes, counters: catalogue.counters)
    }

    /// Makes the file of a segment, locked, with its header; under its name it is a segment from its first moment.
    ///
    /// - Returns: nil where another process has taken the file for one left behind.
    private static func begin(
        _ path: FilePath, _ header: SegmentHeader, in folder: FilePath
    ) throws(StorageError) -> SegmentFile? {
        do {
            try Directory.create(folder, permissions: 0o700, durable: true)
            let directory = try Descriptor.open(folder, O_RDONLY | O_DIRECTORY)
            let temporary = try TemporaryFile(in: directory, path: path)
            let file = SegmentFile(at: path, of: header.segment, owning: try temporary.file.duplicate(path: path))
            // Between these two calls another process may take the file for one left behind, and remove it.
            guard try file.tryLock(), try FileStatus.read(file.descriptor).links > 0 else { return nil }
            try temporary.file.write(header.encoded(), path: path)
            try temporary.file.synchronize(path: path)
            try temporary.rename(toNew: CName(path.lastComponent?.string.utf8 ?? "".utf8))
            do { try directory.synchronize(path: folder) } catch {
                unlink(path.string)
                throw error
            }
            return file
        } catch let error as FileError {
            throw StorageError(error)
        } catch let error as StorageError {
            throw error
        } catch {
            throw StorageError(.system, path, "cannot begin the segment \(path): \(error)")
        }
    }

    var isFull: Bool { length >= fullBytes }

    /// Appends a block; durable after `synchronize`.
    ///
    /// - Returns: the block's offset.
    func append(_ block: EncodedBlock) throws(StorageError) -> Int {
        let offset = length
        let bytes = block.bytes(at: file.place(offset))
        guard offset <= ArchiveManifest.Parameters.segmentBytesLimit else {
            throw StorageError(
                .damaged, file.path, "segment \(file.path) has \(offset) bytes and cannot be sealed",
                remedy: "run 'archiver check'")
        }
        do { try file.write(bytes, at: offset) } catch {
            // What was written in part must not stand before later blocks.
            try? file.truncate(to: offset)
            throw error
        }
        length = offset + bytes.count
        if length - begunLength >= SegmentWriter.writingBytes {
            file.beginWriting(begunLength..<length)
            begunLength = length
        }
        counters.countWritten(block.header)
        return offset
    }

    /// Whether the archive's path no longer leads to the segment: what is appended would be lost.
    private(set) var isLost = false

    /// Makes everything appended durable, in a file that can be found again.
    func synchronize() throws(StorageError) {
        counters.synchronizations.add()
        try file.synchronize()
        guard try !file.isInPlace() else { return }
        isLost = true
        throw StorageError(
            .noArchive, file.path, "the segment \(file.path) was removed or replaced while it was written",
            remedy: "is the archive's disk mounted? bring the archive back; what changed is captured again")
    }

    /// Notes that everything before `length` is durable and indexed.
    func markIndexed(_ length: Int) {
        indexedLength = max(indexedLength, length)
    }

    /// Takes back what was appended since it was last indexed.
    ///
    /// A transaction may be complete although it failed to say so: what the catalogue knows of stays.
    func rollBack(_ catalogue: Catalogue) throws(StorageError) {
        guard length > indexedLength else { return }
        guard let known = try catalogue.segment(record.number) else { return }
        indexedLength = max(indexedLength, known.indexedLength)
        try file.truncate(to: indexedLength)
        length = indexedLength
        begunLength = indexedLength
    }

    /// Writes the footer and tells the catalogue; the segment never changes again.
    ///
    /// Everything appended is indexed.
    ///
    /// - Parameter pause: called now and then meanwhile.
    func seal(_ catalogue: Catalogue, pause: () -> Void = {}) throws(StorageError) {
        var blocks: [SegmentFooter.Block] = []
        var offset = SegmentHeader.byteCount
        while offset < length {
            let header = try file.blockHeader(at: offset)
            blocks.append(SegmentFooter.Block(offset: offset, header: header))
            offset += header.blockLength
        }
        let footer = SegmentFooter.encoded(
            blocks: blocks, segment: file.place(0).segment, content: try file.hash(upTo: length, pause: pause))
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
