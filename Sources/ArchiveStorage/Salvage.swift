// What is cut off a segment is kept beside it: only its owner can tell whether it is worth anything.

internal import FileIO
internal import Glibc
internal import SystemPackage

/// The archive's `salvage` directory.
enum Salvage {
    private static let pieceBytes = 1 << 20
    /// So often the same place of one segment is cut off before anybody clears the directory.
    private static let namesLimit = 1000

    /// Copies what `segment` holds from `offset` on, durably; its holes stay holes.
    ///
    /// - Returns: the copy; nil where there is nothing but zeros.
    static func keep(
        _ segment: SegmentFile, from offset: Int, in layout: ArchiveLayout
    ) throws(StorageError) -> FilePath? {
        let length = try segment.length()
        let name = "\(segment.path.lastComponent?.string ?? "segment").\(offset)"
        return try storing { () throws(FileError) -> FilePath? in
            try Directory.create(layout.salvage, permissions: 0o700, durable: true)
            let folder = try Descriptor.open(layout.salvage, O_RDONLY | O_DIRECTORY)
            for number in 1...namesLimit {
                let name = number == 1 ? name : "\(name)-\(number)"
                let path = layout.salvage.appending(name)
                let copy = try TemporaryFile(in: folder, path: path)
                guard try self.copy(segment, offset..<length, to: copy.file, path) else { return nil }
                try copy.file.synchronize(path: path)
                do throws(FileError) { try copy.rename(toNew: CName(name.utf8)) } catch {
                    if error.code == .fileExists { continue }
                    throw error
                }
                try folder.synchronize(path: layout.salvage)
                return path
            }
            throw FileError("create", layout.salvage.appending(name), .fileExists)
        }
    }

    /// - Returns: whether there was anything but zeros.
    private static func copy(
        _ segment: SegmentFile, _ range: Range<Int>, to copy: borrowing Descriptor, _ path: FilePath
    ) throws(FileError) -> Bool {
        let end = UInt64(range.upperBound)
        var position = UInt64(range.lowerBound)
        var isWorthKeeping = false
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceBytes, alignment: 8)
        defer { buffer.deallocate() }
        while let data = try segment.descriptor.nextDataRange(from: position, below: end, path: segment.path) {
            position = data.lowerBound
            while position < data.upperBound {
                let room = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(data.upperBound - position)))
                let count = try segment.descriptor.read(into: room, at: position, path: segment.path)
                if count == 0 { return isWorthKeeping }
                let piece = UnsafeRawBufferPointer(rebasing: room[..<count])
                if piece.contains(where: { $0 != 0 }) {
                    isWorthKeeping = true
                    try copy.write(piece, at: position - UInt64(range.lowerBound), path: path)
                }
                position += UInt64(count)
            }
        }
        return isWorthKeeping
    }
}
