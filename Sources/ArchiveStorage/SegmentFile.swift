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
    /// The first 4 bytes of the segment's id, which its blocks' checksums cover.
    private let segment: UInt32
    private let isLocked = Atomic(false)

    /// Opens the segment at `path`.
    ///
    /// - Parameter writable: whether blocks will be appended.
    package init(at path: FilePath, writable: Bool = false) throws(StorageError) {
        self.path = path
        do {
            descriptor = try Descriptor.openFile(path, writable ? O_RDWR : O_RDONLY)
        } catch {
            throw SegmentFile.failure(error)
        }
        segment = SegmentFile.segment(descriptor, path)
    }

    /// Takes over a segment that was just created.
    init(at path: FilePath, of segment: SegmentID, owning descriptor: consuming Descriptor) {
        self.path = path
        self.descriptor = descriptor
        self.segment = segment.prefix
    }

    /// What the header says of the segment's id; what the file's name says where the header is damaged.
    private static func segment(_ descriptor: borrowing Descriptor, _ path: FilePath) -> UInt32 {
        var bytes = [UInt8](repeating: 0, count: SegmentHeader.byteCount)
        let count = try? bytes.withUnsafeMutableBytes { try descriptor.read(into: $0, at: 0, path: path) }
        if count == bytes.count, let header = try? bytes.withUnsafeBytes({ try SegmentHeader(decoding: $0) }) {
            return header.segment.prefix
        }
        return path.lastComponent.flatMap { SegmentName(fileName: $0.string) }?.segment ?? 0
    }

    /// The place of the block at `offset`, as its checksum covers it.
    package func place(_ offset: Int) -> BlockPlace { BlockPlace(segment: segment, offset: offset) }

    /// The file's length in bytes.
    package func length() throws(StorageError) -> Int {
        Int(try storing { () throws(FileError) in try FileStatus.read(descriptor) }.size)
    }

    /// Whether the file has no name any more.
    var isRemoved: Bool { (try? FileStatus.read(descriptor))?.links == 0 }

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
                try BlockHeader(
                    decoding: UnsafeRawBufferPointer(rebasing: bytes[..<headerLength]), at: place(offset))
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
        if let failure { throw SegmentFile.failure(failure) }
        return bytes
    }

    /// That there is no file is damage of that segment; whatever else keeps it from being read may pass.
    private static func failure(_ error: FileError) -> StorageError {
        switch error.code {
        case .noSuchFileOrDirectory, .notSupported, .isDirectory, .tooManySymbolicLinkLevels, .noSuchAddressOrDevice:
            StorageError(
                .damaged, error.path, "segment: \(error.description)",
                remedy: "put the segment back from a copy; snapshots in other segments stay usable")
        default: StorageError(error)
        }
    }

    /// Where the next bytes at `offset` or behind it are that are no hole; nil where there are none below `end`.
    func nextData(from offset: Int, below end: Int) throws(StorageError) -> Range<Int>? {
        do {
            return try descriptor.nextDataRange(from: UInt64(offset), below: UInt64(end), path: path)
                .map { Int($0.lowerBound)..<Int($0.upperBound) }
        } catch {
            throw SegmentFile.failure(error)
        }
    }

    /// Whether the path still leads to this file.
    func isInPlace() throws(StorageError) -> Bool {
        try storing { () throws(FileError) in
            let own = try FileStatus.read(descriptor)
            do throws(FileError) {
                return own.isSameObject(as: try FileStatus.read(Descriptor.openFile(path, O_RDONLY)))
            } catch  where error.code == .noSuchFileOrDirectory || error.code == .notDirectory {
                return false
            }
        }
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
    ///
    /// - Returns: false where another has it.
    func tryLock() throws(StorageError) -> Bool {
        let number = descriptor.number
        guard retryingInterrupts({ flock(number, LOCK_EX | LOCK_NB) }) == 0 else {
            let code = Errno.current
            if code == .wouldBlock { return false }
            throw StorageError(FileError("lock", path, code))
        }
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
