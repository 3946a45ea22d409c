// Where a side of a comparison has its files' content: in the archive, or in the directory as it is now.

internal import ArchiveFormat
internal import ArchiverKit
internal import FileIO
internal import Glibc
internal import SystemPackage

/// The content of the files of one side.
enum FileContents {
    case archive(Archive)
    case directory(FilePath)

    /// The largest file whose lines are compared.
    static let limit: UInt64 = 16 << 20

    /// The whole content of a file of this side, at most `limit` bytes of it.
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
            // O_NONBLOCK: should a FIFO have taken the file's place, opening it must not wait.
            let file = try root.openForReading(beneath: entry.path, O_NONBLOCK)
            return try file.readToEnd(limit: Int(FileContents.limit), path: FilePath(entry.path))
        }
    }
}
