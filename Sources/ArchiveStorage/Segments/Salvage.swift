// Stores what is cut off a segment: only the archive's owner can judge whether it is worth anything.

internal import FileIO
internal import Glibc
internal import SystemPackage

/// The archive's `salvage` directory.
enum Salvage {
    private static let pieceBytes = 1 << 20
    /// The most copies of one cut (one segment and offset) in the directory.
    private static let namesLimit = 1000

    /// Copies the bytes of `segment` from `offset` to its end, durably; holes stay holes.
    ///
    /// - Returns: the path of the copy; nil if all bytes are zeros.
    static func store(
        _ segment: Segment, from offset: Int, in layout: ArchiveLayout
    ) throws(StorageError) -> FilePath? {
        let length = try segment.length()
        let name = "\(segment.path.lastComponent?.string ?? "segment").\(offset)"
        let folder = try storing { () throws(FileError) in
            try layout.salvage.createDirectory(durable: true)
            return try layout.salvage.openDirectory()
        }
        for number in 1...namesLimit {
            let place = layout.salvage.appending(number == 1 ? name : "\(name)-\(number)")
            let path = place.path
            let copy = try storing { () throws(FileError) in try place.temporaryFile(in: folder) }
            guard try self.copy(segment, offset..<length, to: copy.file, path) else { return nil }
            do {
                if try publish(copy, as: path, in: folder) { return path }
            } catch {
                throw StorageError(error)
            }
        }
        throw StorageError(FileError("create", layout.salvage.appending(name).path, .fileExists))
    }

    /// - Returns: false if the name is taken.
    private static func publish(
        _ copy: consuming TemporaryFile, as path: FilePath, in folder: borrowing Descriptor
    ) throws(FileError) -> Bool {
        try copy.file.synchronize(path: path)
        do throws(FileError) { try copy.rename(toNew: CName(path.lastComponent?.string.utf8 ?? "".utf8)) } catch {
            if error.code == .fileExists { return false }
            throw error
        }
        try folder.synchronize(path: path.removingLastComponent())
        return true
    }

    /// - Returns: whether any byte is not zero.
    private static func copy(
        _ segment: Segment, _ range: Range<Int>, to copy: borrowing Descriptor, _ path: FilePath
    ) throws(StorageError) -> Bool {
        var position = range.lowerBound
        var isWorthKeeping = false
        while let data = try segment.bytes.nextData(from: position, below: range.upperBound) {
            position = data.lowerBound
            while position < data.upperBound {
                let piece = try segment.read(at: position, atMost: min(pieceBytes, data.upperBound - position))
                if piece.isEmpty { return isWorthKeeping }
                if piece.contains(where: { $0 != 0 }) {
                    isWorthKeeping = true
                    do { try copy.write(piece, at: UInt64(position - range.lowerBound), path: path) } catch {
                        throw StorageError(error)
                    }
                }
                position += piece.count
            }
        }
        return isWorthKeeping
    }
}
