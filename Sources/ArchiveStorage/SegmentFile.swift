// One segment on disk: reading its blocks, and appending to it while holding its lock.

package import ArchiveFormat
internal import FileIO
internal import Glibc
internal import Synchronization
package import SystemPackage

/// An open segment.
///
/// Reads may come from any thread; appends from one at a time.
package final class SegmentFile: Sendable {
    package let path: FilePath
    let descriptor: Descriptor
    private let isLocked = Atomic(false)

    /// Opens the segment at `path`.
    ///
    /// - Parameter writable: whether blocks will be appended.
    package init(at path: FilePath, writable: Bool = false) throws(StorageError) {
        self.path = path
        descriptor = try storing { () throws(FileError) in
            try Descriptor.open(path, writable ? O_RDWR : O_RDONLY)
        }
    }

    /// Takes over a segment that was just created.
    init(at path: FilePath, owning descriptor: consuming Descriptor) {
        self.path = path
        self.descriptor = descriptor
    }

    /// The file's length in bytes.
    package func length() throws(StorageError) -> Int {
        Int(try storing { () throws(FileError) in try FileStatus.read(descriptor) }.size)
    }

    /// Whether the file still has a name.
    func isLinked() throws(StorageError) -> Bool {
        try storing { () throws(FileError) in try FileStatus.read(descriptor) }.links > 0
    }

    /// Checks that the segment is of this format and archive.
    package func readHeader() throws(StorageError) -> SegmentHeader {
        let bytes = try read(at: 0, count: SegmentHeader.byteCount)
        return try decoding(at: 0) { () throws(FormatError) in
            try bytes.withRawBytes { bytes throws(FormatError) in try SegmentHeader(decoding: bytes) }
        }
    }

    /// The header of the block at `offset`, without its payload.
    package func blockHeader(at offset: Int) throws(StorageError) -> BlockHeader {
        try block(at: offset, withPayload: false).header
    }

    /// The block at `offset`, its checksums verified.
    package func block(at offset: Int) throws(StorageError) -> (header: BlockHeader, payload: [UInt8]) {
        try block(at: offset, withPayload: true)
    }

    /// Most blocks fit into one read of this many bytes.
    private static let firstRead = 16 << 10

    private func block(
        at offset: Int, withPayload: Bool
    ) throws(StorageError) -> (header: BlockHeader, payload: [UInt8]) {
        var bytes = try read(at: offset, atMost: SegmentFile.firstRead)
        let headerLength = try decoding(at: offset) { () throws(FormatError) in
            try bytes.withRawBytes { bytes throws(FormatError) in try BlockHeader.headerLength(ofPrefix: bytes) }
        }
        if bytes.count < headerLength { bytes = try read(at: offset, count: headerLength) }
        let header = try decoding(at: offset) { () throws(FormatError) in
            try bytes.withRawBytes { bytes throws(FormatError) in
                try BlockHeader(decoding: UnsafeRawBufferPointer(rebasing: bytes[..<headerLength]))
            }
        }
        guard withPayload else { return (header, []) }
        let payload: [UInt8]
        if bytes.count >= header.blockLength {
            payload = Array(bytes[headerLength..<header.blockLength])
        } else {
            payload = try read(at: offset + headerLength, count: header.storedLength)
        }
        try decoding(at: offset) { () throws(FormatError) in
            try payload.withRawBytes { payload throws(FormatError) in try header.verify(payload: payload) }
        }
        return (header, payload)
    }

    /// Exactly `count` bytes from `offset`.
    func read(at offset: Int, count: Int) throws(StorageError) -> [UInt8] {
        let bytes = try read(at: offset, atMost: count)
        guard bytes.count == count else { throw StorageError.damaged(path, offset: offset, .truncated) }
        return bytes
    }

    /// Up to `count` bytes from `offset`, fewer only at the end of the file.
    func read(at offset: Int, atMost count: Int) throws(StorageError) -> [UInt8] {
        var failure: FileError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
            do throws(FileError) {
                let buffer = UnsafeMutableRawBufferPointer(buffer)
                length = try descriptor.read(into: buffer, at: UInt64(offset), path: path)
            } catch {
                failure = error
            }
        }
        if let failure { throw StorageError(failure) }
        return bytes
    }

    /// Writes `bytes` at `offset`, all of them.
    func write(_ bytes: [UInt8], at offset: Int) throws(StorageError) {
        try storing { () throws(FileError) in
            try descriptor.write(bytes, at: UInt64(offset), path: path)
        }
    }

    func truncate(to length: Int) throws(StorageError) {
        try storing { () throws(FileError) in try descriptor.truncate(to: UInt64(length), path: path) }
    }

    /// Waits until what was written is on disk (fdatasync(2)).
    func synchronize() throws(StorageError) {
        try storing { () throws(FileError) in try descriptor.synchronizeData(path: path) }
    }

    /// Has the kernel begin to write a part of the segment to the disk, without waiting for it.
    func beginWriting(_ range: Range<Int>) {
        descriptor.beginWriting(UInt64(range.lowerBound)..<UInt64(range.upperBound))
    }

    /// Tries to become the segment's only writer (flock(2)); the lock ends with this value.
    func tryLock() -> Bool {
        guard flock(descriptor.number, LOCK_EX | LOCK_NB) == 0 else { return false }
        isLocked.store(true, ordering: .relaxed)
        return true
    }

    deinit {
        // Closing alone would leave the lock to a child process that has not begun its own program yet.
        if isLocked.load(ordering: .relaxed) { flock(descriptor.number, LOCK_UN) }
    }

    /// What `body` makes of the bytes at `offset`, with errors that name the place.
    func decoding<Value: ~Copyable>(
        at offset: Int, _ body: () throws(FormatError) -> Value
    ) throws(StorageError) -> Value {
        do { return try body() } catch {
            if case .unknownVersion = error {
                throw StorageError(.newerFormat, path, "segment \(path): \(error)", remedy: "use a newer archiver")
            }
            throw StorageError.damaged(path, offset: offset, error)
        }
    }
}
