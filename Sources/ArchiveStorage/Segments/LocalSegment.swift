// A segment in a file.

package import FileIO
internal import Glibc
internal import Synchronization
package import SystemPackage

/// An open file that holds a segment.
package final class LocalSegment: SegmentBytes {
    package var path: FilePath { place.path }
    private let place: EnclosedPath
    private let descriptor: Descriptor
    private let isLocked = Atomic(false)

    /// Opens the file at `path`.
    package init(at place: EnclosedPath, writable: Bool = false) throws(StorageError) {
        self.place = place
        do {
            descriptor = try place.open(writable ? O_RDWR : O_RDONLY)
        } catch {
            // Damaged segments are left out of the catalogue for good. So only the absence of a regular file counts as
            // damage; other errors may pass.
            if place.path.isMissing {
                throw StorageError(
                    .damaged, place.path, "segment \(place.path) is missing", remedy: LocalSegment.remedyForDamage)
            }
            throw LocalSegment.failure(error)
        }
    }

    /// Takes over a file that was just created.
    init(at place: EnclosedPath, owning descriptor: consuming Descriptor) {
        self.place = place
        self.descriptor = descriptor
    }

    deinit {
        // Closing alone would leave the lock to a child process that has not called exec yet.
        if isLocked.load(ordering: .relaxed) { flock(descriptor.number, LOCK_UN) }
    }

    package func length() throws(StorageError) -> Int {
        Int(try storing { () throws(FileError) in try FileStatus.read(descriptor) }.size)
    }

    package var isRemoved: Bool { (try? hasName()) == false }

    /// Whether the file still has a name.
    func hasName() throws(StorageError) -> Bool {
        try storing { () throws(FileError) in try FileStatus.read(descriptor).links > 0 }
    }

    package func isInPlace() throws(StorageError) -> Bool {
        try storing { () throws(FileError) in
            let own = try FileStatus.read(descriptor)
            return try place.status?.isSameObject(as: own) ?? false
        }
    }

    /// Tries to become the only writer (flock(2)).
    package func tryLock() throws(StorageError) -> Bool {
        let number = descriptor.number
        guard retryingInterrupts({ flock(number, LOCK_EX | LOCK_NB) }) == 0 else {
            let code = Errno.current
            if code == .wouldBlock { return false }
            throw StorageError(FileError("lock", path, code))
        }
        isLocked.store(true, ordering: .relaxed)
        return true
    }

    // MARK: Reading

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(StorageError) -> Int {
        do {
            return try descriptor.read(into: buffer, at: UInt64(offset), path: path)
        } catch {
            throw LocalSegment.failure(error)
        }
    }

    package func nextData(from offset: Int, below end: Int) throws(StorageError) -> Range<Int>? {
        do {
            return try descriptor.nextDataRange(from: UInt64(offset), below: UInt64(end), path: path)
                .map { Int($0.lowerBound)..<Int($0.upperBound) }
        } catch {
            throw LocalSegment.failure(error)
        }
    }

    private static let remedyForDamage =
        "put the segment back from a copy; snapshots in other segments stay usable"

    /// Errors that show that there is no such regular file are damage; any other error may pass.
    private static func failure(_ error: FileError) -> StorageError {
        switch error.code {
        case .noSuchFileOrDirectory, .notSupported, .isDirectory, .tooManySymbolicLinkLevels, .noSuchAddressOrDevice:
            StorageError(.damaged, error.path, "segment: \(error.description)", remedy: remedyForDamage)
        default: StorageError(error)
        }
    }

    // MARK: Writing

    package func write(_ bytes: [UInt8], at offset: Int) throws(StorageError) {
        try storing { () throws(FileError) in try descriptor.write(bytes, at: UInt64(offset), path: path) }
    }

    package func truncate(to length: Int) throws(StorageError) {
        try storing { () throws(FileError) in try descriptor.truncate(to: UInt64(length), path: path) }
    }

    /// Waits until everything written is on disk (fdatasync(2)).
    package func synchronize() throws(StorageError) {
        try storing { () throws(FileError) in try descriptor.synchronizeData(path: path) }
    }

    package func beginWriting(_ range: Range<Int>) {
        descriptor.beginWriting(UInt64(range.lowerBound)..<UInt64(range.upperBound))
    }
}

extension FilePath {
    /// Whether there is certainly no file at the path (access(2)).
    fileprivate var isMissing: Bool {
        guard withPlatformString({ access($0, F_OK) }) != 0 else { return false }
        return Errno.current == .noSuchFileOrDirectory || Errno.current == .notDirectory
    }
}
