// Reads the content of files for one side of a comparison: from the archive or from the directory as it is now.

internal import ArchiveFormat
internal import ArchiverKit
internal import FileIO
internal import Glibc
internal import SystemPackage

/// The source of file contents for one side of a comparison.
enum FileContents {
    case archive(Archive)
    case directory(FilePath)

    /// The maximum size in bytes of a file whose lines are compared.
    static let limit: UInt64 = 16 << 20

    /// The content of a file, up to about `limit` bytes.
    func bytes(_ entry: Entry) throws -> [UInt8] {
        switch self {
        case .archive(let archive):
            var bytes = [UInt8]()
            bytes.reserveCapacity(Int(min(entry.size, FileContents.limit)))
            try archive.forEachPiece(of: entry) { piece in
                bytes.append(contentsOf: piece)
                return bytes.count < FileContents.limit
            }
            return bytes
        case .directory(let directory):
            let root = try Descriptor.open(directory, O_RDONLY | O_DIRECTORY)
            // O_NONBLOCK: if a FIFO has replaced the file, opening it must not block.
            let file = try root.openForReading(beneath: entry.path, O_NONBLOCK)
            return try file.readToEnd(limit: Int(FileContents.limit), path: FilePath(entry.path))
        }
    }
}
