// Reads the content of files for one side of a comparison: from the archive or from the directory as it is now.

internal import ArchiveFormat
internal import ArchiverKit
internal import FileIO
internal import Glibc
internal import SystemPackage
internal import TextDiff

/// The source of file contents for one side of a comparison.
enum FileContents: Sendable {
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

    /// Whether the content of files differs, or one is only on one side.
    static func isComparable(_ difference: Difference) -> Bool {
        [difference.left, difference.right].allSatisfy { $0.map { $0.kind == .file } ?? true }
            && (difference.kind != .modified || difference.aspects.contains("content"))
    }

    /// The numbers of lines added and removed; nil if either side is not text, or too large.
    static func lineCounts(of difference: Difference, _ left: FileContents, _ right: FileContents) throws -> LineCounts
    {
        guard [difference.left, difference.right].allSatisfy({ $0.map { $0.size <= FileContents.limit } ?? true })
        else { return nil }
        let (old, new) = (try difference.left.map(left.bytes) ?? [], try difference.right.map(right.bytes) ?? [])
        if TextLines.isBinary(old) || TextLines.isBinary(new) { return nil }
        let edits = TextLines.edits(from: TextLines(old), to: TextLines(new))
        return (edits.reduce(0) { $0 + $1.right.count }, edits.reduce(0) { $0 + $1.left.count })
    }
}
