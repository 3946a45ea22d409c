// Reading open files: whole buffers, whole small files, where the data lies, where a link points.

internal import CLinux
internal import Glibc
package import SystemPackage

extension Descriptor {
    /// Reads from the file's position until `buffer` is full or the file ends.
    ///
    /// - Returns: the number of bytes read; less than asked for only at the end.
    package borrowing func read(
        into buffer: UnsafeMutableRawBufferPointer, path: @autoclosure () -> FilePath
    ) throws(FileError) -> Int {
        let number = number
        return try fill(buffer, enough: buffer.count, path: path()) { start, count, _ in
            Glibc.read(number, start, count)
        }
    }

    /// Reads from `offset` until `buffer` is full or the file ends; the file's position stays where it is.
    ///
    /// - Parameter enough: bytes after which to stop although there is room for more; nil to fill the buffer.
    /// - Returns: the number of bytes read; less than asked for only at the end.
    package borrowing func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64, enough: Int? = nil,
        path: @autoclosure () -> FilePath
    ) throws(FileError) -> Int {
        let number = number
        return try fill(buffer, enough: enough ?? buffer.count, path: path()) { start, count, done in
            pread(number, start, count, off_t(truncatingIfNeeded: offset) + off_t(done))
        }
    }

    private borrowing func fill(
        _ buffer: UnsafeMutableRawBufferPointer, enough: Int, path: @autoclosure () -> FilePath,
        by call: (_ start: UnsafeMutableRawPointer, _ count: Int, _ done: Int) -> Int
    ) throws(FileError) -> Int {
        guard let start = buffer.baseAddress else { return 0 }
        var done = 0
        while done < enough {
            let count = retryingInterrupts { call(start + done, buffer.count - done, done) }
            if count < 0 { throw FileError("read", path(), .current) }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Everything from the file's position to its end.
    ///
    /// - Parameter limit: the most bytes that are read; a longer file is an error (`.fileTooLarge`).
    package borrowing func readToEnd(
        limit: Int, path: @autoclosure () -> FilePath
    ) throws(FileError) -> [UInt8] {
        var bytes = [UInt8]()
        var block = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = try block.withUnsafeMutableBufferPointer { buffer throws(FileError) in
                try read(into: UnsafeMutableRawBufferPointer(buffer), path: path())
            }
            if bytes.count + count > limit { throw FileError("read", path(), .fileTooLarge) }
            bytes += block[..<count]
            if count < block.count { return bytes }
        }
    }

    /// The next run of data at `offset` or behind it; what lies between runs are holes, which read as zeros.
    ///
    /// Uses lseek(2) with SEEK_DATA and SEEK_HOLE, and moves the file's position. Where the file system knows no holes
    /// all is data.
    ///
    /// - Parameter end: the file's length in bytes as the caller knows it; nothing behind it is looked at.
    /// - Returns: a range that is not empty and ends at `end` at the latest; nil where only a hole is left.
    package borrowing func nextDataRange(
        from offset: UInt64, below end: UInt64, path: @autoclosure () -> FilePath
    ) throws(FileError) -> Range<UInt64>? {
        if offset >= end { return nil }
        let first = lseek(number, off_t(offset), CInt(CLINUX_SEEK_DATA))
        if first < 0 {
            switch Errno.current {
            case .noSuchAddressOrDevice: return nil
            case .invalidArgument, .notSupported, .noFunction: return offset..<end
            case let code: throw FileError("read", path(), code)
            }
        }
        if UInt64(first) >= end { return nil }
        let hole = lseek(number, first, CInt(CLINUX_SEEK_HOLE))
        // The file was cut off between the two calls: what is left of the range is found to be short by reading it.
        if hole < 0 && Errno.current == .noSuchAddressOrDevice { return UInt64(first)..<end }
        if hole < 0 { throw FileError("read", path(), .current) }
        return UInt64(first)..<min(max(UInt64(hole), UInt64(first) + 1), end)
    }

    /// Where the symbolic link `name` in the directory `self` points, as bytes.
    package borrowing func readLink(
        _ name: borrowing CName, path: @autoclosure () -> FilePath
    ) throws(FileError) -> [UInt8] {
        let number = number
        var capacity = 256
        while true {
            var target = [CChar](repeating: 0, count: capacity)
            let length = name.withPointer { readlinkat(number, $0, &target, capacity) }
            if length < 0 { throw FileError("read link", path(), .current) }
            // A full buffer may hold only the beginning.
            if length < capacity { return target[..<length].map { UInt8(bitPattern: $0) } }
            capacity *= 4
        }
    }
}
