// Writes all given bytes to open files, and waits until they are on the disk.

internal import CLinux
internal import Glibc
package import SystemPackage

extension Descriptor {
    /// Writes all of `bytes` at the file's position.
    package borrowing func write(
        _ bytes: UnsafeRawBufferPointer, path: @autoclosure () -> FilePath
    ) throws(FileError) {
        let number = number
        try drain(bytes, path: path()) { start, count, _ in Glibc.write(number, start, count) }
    }

    /// Writes all of `bytes` at the file's position.
    package borrowing func write(_ bytes: [UInt8], path: @autoclosure () -> FilePath) throws(FileError) {
        try bytes.withUnsafeBufferPointer { bytes throws(FileError) in
            try write(UnsafeRawBufferPointer(bytes), path: path())
        }
    }

    /// Writes all of `bytes` at `offset`; the file's position does not change.
    package borrowing func write(
        _ bytes: UnsafeRawBufferPointer, at offset: UInt64, path: @autoclosure () -> FilePath
    ) throws(FileError) {
        let number = number
        try drain(bytes, path: path()) { start, count, done in
            pwrite(number, start, count, off_t(truncatingIfNeeded: offset) + off_t(done))
        }
    }

    /// Writes all of `bytes` at `offset`; the file's position does not change.
    package borrowing func write(
        _ bytes: [UInt8], at offset: UInt64, path: @autoclosure () -> FilePath
    ) throws(FileError) {
        try write(bytes[...], at: offset, path: path())
    }

    /// Writes all of `bytes` at `offset`; the file's position does not change.
    package borrowing func write(
        _ bytes: ArraySlice<UInt8>, at offset: UInt64, path: @autoclosure () -> FilePath
    ) throws(FileError) {
        try bytes.withUnsafeBufferPointer { bytes throws(FileError) in
            try write(UnsafeRawBufferPointer(bytes), at: offset, path: path())
        }
    }

    /// Writes `header` and then `payload` at the file's position, in one system call if the kernel accepts all of it.
    package borrowing func write(
        _ header: UnsafeRawBufferPointer, then payload: UnsafeRawBufferPointer, path: @autoclosure () -> FilePath
    ) throws(FileError) {
        var parts = (
            iovec(iov_base: UnsafeMutableRawPointer(mutating: header.baseAddress), iov_len: header.count),
            iovec(iov_base: UnsafeMutableRawPointer(mutating: payload.baseAddress), iov_len: payload.count)
        )
        let number = number
        let count = withUnsafeMutablePointer(to: &parts) { parts in
            parts.withMemoryRebound(to: iovec.self, capacity: 2) { parts in
                retryingInterrupts { writev(number, parts, 2) }
            }
        }
        if count < 0 { throw FileError("write", path(), .current) }
        if count < header.count {
            try write(UnsafeRawBufferPointer(rebasing: header[count...]), path: path())
            try write(payload, path: path())
        } else {
            try write(UnsafeRawBufferPointer(rebasing: payload[(count - header.count)...]), path: path())
        }
    }

    private borrowing func drain(
        _ bytes: UnsafeRawBufferPointer, path: @autoclosure () -> FilePath,
        by call: (_ start: UnsafeRawPointer, _ count: Int, _ done: Int) -> Int
    ) throws(FileError) {
        guard let start = bytes.baseAddress else { return }
        var done = 0
        while done < bytes.count {
            let count = retryingInterrupts { call(start + done, bytes.count - done, done) }
            if count < 0 { throw FileError("write", path(), .current) }
            done += count
        }
    }

    /// Makes the file `byteCount` bytes long: truncates it, or extends it with a hole.
    package borrowing func truncate(to byteCount: UInt64, path: @autoclosure () -> FilePath) throws(FileError) {
        let number = number
        guard let length = off_t(exactly: byteCount) else { throw FileError("truncate", path(), .fileTooLarge) }
        if retryingInterrupts({ ftruncate(number, length) }) != 0 { throw FileError("truncate", path(), .current) }
    }

    /// Waits until the file's bytes, and the metadata needed to read them, are on the disk (fdatasync(2)).
    package borrowing func synchronizeData(path: @autoclosure () -> FilePath) throws(FileError) {
        let number = number
        if retryingInterrupts({ fdatasync(number) }) != 0 { throw FileError("synchronize", path(), .current) }
    }

    /// Asks the kernel to start writing a part of the file to the disk (sync_file_range(2)), and does not wait.
    ///
    /// This alone makes nothing durable, and a failure is ignored. It only shortens the wait in `synchronizeData`,
    /// which reports write errors.
    ///
    /// - Parameter range: offsets in bytes.
    package borrowing func beginWriting(_ range: Range<UInt64>) {
        guard let start = Int64(exactly: range.lowerBound) else { return }
        _ = clinux_begin_writing(number, start, Int64(range.count))
    }

    /// Waits until the file's bytes and metadata, or a directory's names, are on the disk (fsync(2)).
    package borrowing func synchronize(path: @autoclosure () -> FilePath) throws(FileError) {
        let number = number
        if retryingInterrupts({ fsync(number) }) != 0 { throw FileError("synchronize", path(), .current) }
    }

    /// Waits until everything on the file system that holds the open file is on the disk (syncfs(2)).
    package borrowing func synchronizeFileSystem(path: @autoclosure () -> FilePath) throws(FileError) {
        let number = number
        if retryingInterrupts({ clinux_synchronize_file_system(number) }) != 0 {
            throw FileError("synchronize", path(), .current)
        }
    }
}
