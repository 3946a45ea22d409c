// Reads the names in a directory with getdents64(2) through one large buffer, and sorts them.

internal import CLinux
internal import SystemPackage

/// Reads complete directories, sorted by name, and reuses its buffer between calls.
package struct DirectoryReader: ~Copyable {
    private let buffer: UnsafeMutableRawBufferPointer

    /// Byte offsets in `struct linux_dirent64` (getdents64(2)).
    private enum Offset {
        static let inode = 0
        static let recordLength = 16
        static let type = 18
        static let name = 19
    }

    package init() {
        buffer = .allocate(byteCount: 128 * 1024, alignment: 8)
    }

    deinit {
        buffer.deallocate()
    }

    /// All names in `directory`, in walk order.
    ///
    /// - Parameter directory: a descriptor opened with O_DIRECTORY and not read yet.
    /// - Throws: `FileError` with the system's reason.
    package mutating func read(
        _ directory: borrowing Descriptor, path: @autoclosure () -> RelativePath
    ) throws(FileError) -> DirectoryListing {
        var listing = DirectoryListing()
        while true {
            let number = directory.number
            let length = retryingInterrupts { clinux_getdents(number, buffer.baseAddress, buffer.count) }
            if length < 0 { throw FileError("list", path(), .current) }
            if length == 0 { break }
            append(recordsIn: length, to: &listing)
        }
        listing.sort()
        return listing
    }

    /// All names in `directory`, in walk order, for a caller that reads one directory only.
    package static func list(
        _ directory: borrowing Descriptor, path: @autoclosure () -> RelativePath
    ) throws(FileError) -> DirectoryListing {
        var reader = DirectoryReader()
        return try reader.read(directory, path: path())
    }

    private func append(recordsIn length: Int, to listing: inout DirectoryListing) {
        var start = 0
        while start < length {
            let recordLength = Int(buffer.loadUnaligned(fromByteOffset: start + Offset.recordLength, as: UInt16.self))
            let field = UnsafeRawBufferPointer(rebasing: buffer[(start + Offset.name)..<(start + recordLength)])
            let name = field.prefix { $0 != 0 }
            if RelativePath.isValidName(name) {
                listing.append(
                    name, kind: FileKind(directoryRecordType: buffer[start + Offset.type]),
                    inode: buffer.loadUnaligned(fromByteOffset: start + Offset.inode, as: UInt64.self))
            }
            start += recordLength
        }
    }
}
