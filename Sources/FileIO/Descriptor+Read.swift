// Reads open files: full buffers, small files, the ranges that hold data, and the targets of symbolic links.

internal import CLinux
internal import Glibc
package import SystemPackage

extension Descriptor {
    /// Reads from the file's position until `buffer` is full or the file ends.
    ///
    /// - Returns: the number of bytes read; fewer than requested only at the end of the file.
    package borrowing func read(
        into buffer: UnsafeMutableRawBufferPointer, path: @autoclosure () -> FilePath
    ) throws(FileError) -> Int {
        let number = number
        return try fill(buffer, enough: buffer.count, path: path()) { start, count, _ in
            Glibc.read(number, start, count)
        }
    }

    /// Reads from `offset` until `buffer` is full or the file ends; the file's position does not change.
    ///
    /// - Parameter enough: stop once this many bytes are read, even if the buffer has room; nil to fill the buffer.
    /// - Returns: the number of bytes read; fewer than requested only at the end of the file.
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

    /// Reads everything from the file's position to its end.
    ///
    /// - Parameter limit: the most bytes to read; a longer file is an error (`.fileTooLarge`).
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

    /// Finds the next range of data at or after `offset`; the gaps between ranges are holes, which read as zeros.
    ///
    /// Uses lseek(2) with SEEK_DATA and SEEK_HOLE, and moves the file's position. If the file system does not support
    /// holes, everything is data.
    ///
    /// - Parameter end: the file's length in bytes as the caller knows it; nothing after it is examined.
    /// - Returns: a non-empty range that ends at `end` at the latest; nil if only a hole is left.
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
        // The file was truncated between the two calls. Reading the range will show that it is shorter.
        if hole < 0 && Errno.current == .noSuchAddressOrDevice { return UInt64(first)..<end }
        if hole < 0 { throw FileError("read", path(), .current) }
        return UInt64(first)..<min(max(UInt64(hole), UInt64(first) + 1), end)
    }

    /// The target of the symbolic link `name` in the directory `self`, as bytes.
    package borrowing func readLink(
        _ name: borrowing CName, path: @autoclosure () -> FilePath
    ) throws(FileError) -> [UInt8] {
        let number = number
        var capacity = 256
        while true {
            var target = [CChar](repeating: 0, count: capacity)
            let length = name.withPointer { readlinkat(number, $0, &target, capacity) }
            if length < 0 { throw FileError("read link", path(), .current) }
            // If the buffer is full, the target may be truncated.
            if length < capacity { return target[..<length].map { UInt8(bitPattern: $0) } }
            capacity *= 4
        }
    }
}
