// Writes restored files: verified, with all metadata, and where they replace something at one stroke.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Glibc
internal import SystemPackage

/// A file that is to be written.
struct FileJob: Sendable {
    let entry: Entry
    let path: RelativePath
    /// The directory that will hold it, and its name there.
    let directory: SharedDirectory
    let name: CName
    /// Whether nothing has the name, and the root is known to be incomplete until the restore has ended.
    let isNew: Bool
}

/// Writes files; safe to use from several threads.
struct FileRestorer: Sendable {
    let store: ArchiveStore
    let progress: OperationProgress?

    /// Writes one file, replacing what has its name.
    ///
    /// A new one in an incomplete root needs no temporary name: killed here, the restore makes it anew when it goes on.
    /// That spares each file two changes of its directory.
    ///
    /// - Parameter metadata: sets the file's metadata and notes what could not be set.
    func write(_ job: FileJob, _ metadata: inout MetadataWriter) throws {
        if job.isNew { try create(job, &metadata) } else { try replace(job, &metadata) }
    }

    private func create(_ job: FileJob, _ metadata: inout MetadataWriter) throws {
        let path = FilePath(job.path)
        let directory = job.directory
        let file = try directory.descriptor.open(
            job.name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, permissions: 0o600, path: job.path)
        do { try write(job.entry.content, to: file, path: path) } catch {
            try? directory.descriptor.removeFile(job.name, path: path)
            throw error
        }
        metadata.apply(job.entry, to: file, path: job.path)
    }

    private func replace(_ job: FileJob, _ metadata: inout MetadataWriter) throws {
        let path = FilePath(job.path)
        let temporary = try TemporaryFile(in: job.directory.descriptor, path: path)
        try write(job.entry.content, to: temporary.file, path: path)
        metadata.apply(job.entry, to: temporary.file, path: job.path)
        try temporary.rename(to: job.name)
    }

    /// Writes a file's content, leaving its holes unwritten.
    private func write(_ content: Content, to file: borrowing Descriptor, path: FilePath) throws {
        var position: UInt64 = 0
        var endsInHole = false
        var pieces = ContentReader(content, in: store)
        while let piece = try pieces.next() {
            switch piece {
            case .data(let bytes):
                try file.write(bytes, at: position, path: path)
                position += UInt64(bytes.count)
                endsInHole = false
                progress?.add(bytes: UInt64(bytes.count))
            case .hole(let length):
                position += length
                endsInHole = true
            }
        }
        if endsInHole { try file.truncate(to: position, path: path) }
    }
}
