// Writes restored files: verified, with all metadata, and atomically if they replace something.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Capturing
internal import FileIO
internal import Glibc
internal import Roots
internal import SnapshotTree
internal import SystemPackage
internal import Threading

/// A file to write.
struct FileJob: Sendable {
    let entry: Entry
    let path: RelativePath
    /// Its directory.
    let directory: SharedDirectory
    /// Its name in the directory.
    let name: CName
    /// Whether the name is free and the root is marked as incomplete until the restore has ended.
    let isNew: Bool
    /// The kind of action that it counts as.
    let kind: RestoreAction.Kind
    /// The present file, if it is one with a single name.
    ///
    /// Its content is in the snapshot before the restore, so it may be overwritten in place.
    var present: Entry?
}

/// Writes files; safe to use from several threads.
final class FileRestorer: Sendable {
    let store: ArchiveStore
    let progress: OperationProgress?
    let interruption: RestoreInterruption?
    /// Whether a file is being read ahead: one at a time, which limits the memory and the threads.
    private let isReadingAhead = Locked(false)
    /// Files with at least this many bytes are read ahead.
    static let largeBytes: UInt64 = 8 << 20
    /// After this many bytes, the system is asked to begin writing them to the disk.
    private static let writingBytes: UInt64 = 8 << 20

    init(store: ArchiveStore, progress: OperationProgress?, interruption: RestoreInterruption?) {
        self.store = store
        self.progress = progress
        self.interruption = interruption
    }

    /// Writes one file and replaces an existing object with its name.
    ///
    /// A new file in an incomplete root needs no temporary name: if the restore is killed here, it rewrites the file
    /// when it continues. That saves two changes of the directory per file.
    ///
    /// - Parameter metadata: sets the file's metadata and records what could not be set.
    /// - Returns: the bytes of content written.
    func write(_ job: FileJob, _ metadata: inout MetadataWriter) throws -> UInt64 {
        try job.isNew ? create(job, &metadata) : replace(job, &metadata)
    }

    /// The permissions to create a file with; for most files, they are the final ones.
    ///
    /// Its owner and group are set later, and nobody may do more until then than in the end. So all may read or run it
    /// only if its owner and its group may as well, and no access control list says otherwise.
    static func permissions(whileWriting entry: Entry) -> UInt16 {
        let permissions = entry.permissions
        let all = entry.attributes.isEmpty ? permissions & 0o5 : 0
        let isOfAll = permissions >> 3 & permissions >> 6 & all == all
        return 0o600 | permissions & 0o100 | (isOfAll ? all << 3 | all : 0)
    }

    private func create(_ job: FileJob, _ metadata: inout MetadataWriter) throws -> UInt64 {
        let path = FilePath(job.path)
        let directory = job.directory
        let file = try directory.descriptor.open(
            job.name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
            permissions: FileRestorer.permissions(whileWriting: job.entry), path: job.path)
        let count: UInt64
        do { count = try write(job.entry, to: file, job.path) } catch {
            try? directory.descriptor.removeFile(job.name, path: path)
            throw error
        }
        metadata.apply(job.entry, to: file, path: job.path)
        return count
    }

    private func replace(_ job: FileJob, _ metadata: inout MetadataWriter) throws -> UInt64 {
        let temporary = try TemporaryFile(
            in: job.directory.descriptor, permissions: FileRestorer.permissions(whileWriting: job.entry),
            path: FilePath(job.path))
        let count = try write(job.entry, to: temporary.file, job.path)
        metadata.apply(job.entry, to: temporary.file, path: job.path)
        try temporary.rename(to: job.name)
        return count
    }

    /// Overwrites the present file: the disk has no room for two copies.
    ///
    /// If the new content does not fit either, the present content is written again.
    ///
    /// - Returns: the bytes of content written; nil if the file must not be overwritten, and is unchanged.
    func overwrite(_ job: FileJob, _ metadata: inout MetadataWriter) throws -> UInt64? {
        guard let present = job.present else { return nil }
        let path = FilePath(job.path)
        let file = try job.directory.descriptor.open(job.name, O_RDWR | O_NOFOLLOW, path: job.path)
        let status = try FileStatus.read(file, path: job.path)
        guard status.kind == .file, present.isCurrent(status) else { return nil }
        // A disk on which nothing can be written any more is noticed before anything is lost.
        var first: [UInt8] = [0]
        let isEmpty = try first.withUnsafeMutableBytes { try file.read(into: $0, at: 0, path: path) } == 0
        if !isEmpty { try file.write(first, at: 0, path: path) }
        let count: UInt64
        do {
            try file.truncate(to: 0, path: path)
            count = try write(job.entry, to: file, job.path)
        } catch {
            try file.truncate(to: 0, path: path)
            _ = try FileRestorer(store: store, progress: nil, interruption: nil).write(present, to: file, job.path)
            metadata.apply(present, to: file, path: job.path)
            throw error
        }
        metadata.apply(job.entry, to: file, path: job.path)
        return count
    }

    /// Writes a file's content and leaves its holes unwritten.
    ///
    /// - Returns: the number of bytes written.
    /// - Throws: `RestoreProblem` if the content contradicts the entry.
    private func write(_ entry: Entry, to file: borrowing Descriptor, _ relative: RelativePath) throws -> UInt64 {
        let path = FilePath(relative)
        // The sum of the lengths of all lists.
        let size = entry.size
        var position: UInt64 = 0
        var count: UInt64 = 0
        var begun: UInt64 = 0
        var endsInHole = false
        // A size that the file system does not support fails here, before half a million lists are read.
        if case .sliceLists = entry.content { try file.truncate(to: size, path: path) }
        try forEachPiece(of: entry) { piece in
            if interruption?.isAsked == true { throw RestoreInterruption.Stop() }
            let length = piece.length
            guard length <= size, position <= size - length else { throw wrongLength(entry, relative) }
            switch piece {
            case .data(let bytes):
                try file.write(bytes, at: position, path: path)
                count += length
                endsInHole = false
                progress?.add(bytes: length)
            case .hole:
                endsInHole = true
                begun = position + length
            }
            position += length
            if position - begun >= FileRestorer.writingBytes {
                file.beginWriting(begun..<position)
                begun = position
            }
        }
        guard position == size else { throw wrongLength(entry, relative) }
        if case .linkTarget = entry.content { throw wrongLength(entry, relative) }
        if endsInHole { try file.truncate(to: position, path: path) }
        return count
    }

    /// Calls `body` with the pieces of an entry's content in order.
    private func forEachPiece(of entry: Entry, _ body: (ContentReader.Piece) throws -> Void) throws {
        var pieces = ContentReader(entry.content, in: store)
        let isFirst =
            entry.size >= FileRestorer.largeBytes
            && isReadingAhead.withLock { isReading in
                defer { isReading = true }
                return !isReading
            }
        guard isFirst else {
            while let piece = try pieces.next() { try body(piece) }
            return
        }
        defer { isReadingAhead.withLock { $0 = false } }
        try pieces.forEachAhead(body)
    }

    private func wrongLength(_ entry: Entry, _ path: RelativePath) -> RestoreProblem {
        RestoreProblem(
            path, "\(path) cannot be restored: its content in the archive does not have \(entry.size) bytes",
            remedy: Advice.checkData.text, isDamage: true)
    }
}
