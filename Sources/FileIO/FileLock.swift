// Locks between processes: flock(2) on a file that is never removed.
//
// The kernel holds the lock and drops it when its holder ends, however that happens, so a lock file left behind means
// nothing. What the holder writes into the file is only there to name it to others.

internal import Glibc
package import SystemPackage

/// A lock on a file, released when the value ends.
package struct FileLock: ~Copyable, Sendable {
    private let file: Descriptor
    private let isExclusive: Bool

    /// Takes the lock alone, if nobody has it.
    ///
    /// - Parameter path: the lock file, made where it is missing.
    /// - Returns: nil where somebody else has the lock, in this process or another.
    /// - Throws: `FileError` where the lock file cannot be opened or locked at all.
    package static func tryExclusive(_ path: FilePath) throws(FileError) -> FileLock? {
        try acquire(path, LOCK_EX | LOCK_NB)
    }

    /// Takes the lock alone, waiting until nobody else has it; blocks the calling thread.
    package static func exclusive(_ path: FilePath) throws(FileError) -> FileLock {
        guard let lock = try acquire(path, LOCK_EX) else {
            throw FileError("lock", path, .resourceTemporarilyUnavailable)
        }
        return lock
    }

    /// Takes the lock together with others who do so, if nobody has it alone.
    ///
    /// - Returns: nil where somebody has the lock alone.
    package static func tryShared(_ path: FilePath) throws(FileError) -> FileLock? {
        try acquire(path, LOCK_SH | LOCK_NB)
    }

    /// Takes the lock together with others who do so, waiting until nobody has it alone; blocks the thread.
    package static func shared(_ path: FilePath) throws(FileError) -> FileLock {
        guard let lock = try acquire(path, LOCK_SH) else {
            throw FileError("lock", path, .resourceTemporarilyUnavailable)
        }
        return lock
    }

    private static func acquire(_ path: FilePath, _ operation: CInt) throws(FileError) -> FileLock? {
        let isExclusive = operation & LOCK_EX != 0
        let file = try Descriptor.open(path, (isExclusive ? O_RDWR : O_RDONLY) | O_CREAT, permissions: 0o600)
        let number = file.number
        if retryingInterrupts({ flock(number, operation) }) != 0 {
            if Errno.current == .wouldBlock { return nil }
            throw FileError("lock", path, .current)
        }
        if isExclusive {
            try file.truncate(to: 0, path: path)
            try file.write(LockHolder.current.text, path: path)
        }
        return FileLock(file: file, isExclusive: isExclusive)
    }

    deinit {
        // Closing the descriptor releases the lock; a name that is left behind would do no harm.
        if isExclusive { _ = ftruncate(file.number, 0) }
    }

    /// Whether somebody has the lock alone; asking writes nothing.
    package static func isHeld(_ path: FilePath) throws(FileError) -> Bool {
        let file: Descriptor
        do {
            file = try Descriptor.open(path, O_RDONLY)
        } catch {
            guard error.code == .noSuchFileOrDirectory else { throw error }
            return false
        }
        let number = file.number
        return retryingInterrupts { flock(number, LOCK_SH | LOCK_NB) } != 0 && Errno.current == .wouldBlock
    }

    /// Sets the lock file's time to now: until then its holder was at work.
    package borrowing func touch() {
        _ = futimens(file.number, nil)
    }

    /// Who has the lock alone, as far as the lock file tells; to be asked only after taking the lock has failed.
    ///
    /// - Returns: nil where the holder has not written its name, or only others share the lock.
    package static func holder(of path: FilePath) throws(FileError) -> LockHolder? {
        LockHolder(try Descriptor.open(path, O_RDONLY).readToEnd(limit: LockHolder.byteLimit, path: path))
    }
}
