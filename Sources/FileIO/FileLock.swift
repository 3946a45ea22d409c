// Locks between processes: flock(2) on a file that is never removed.
//
// The kernel holds the lock and drops it when its holder ends, however that happens, so a lock file left behind means
// nothing. What the holder writes into the file is only there to name it to others.

internal import Glibc
package import SystemPackage

/// A lock on a file, released when the value ends.
package struct FileLock: ~Copyable, Sendable {
    private let file: Descriptor

    /// How often `tryExclusive` tries while nobody has the lock to keep, and the microseconds between.
    private static let attempts = 500
    private static let pause: UInt32 = 2_000

    /// Takes the lock, if nobody has it.
    ///
    /// - Parameter path: the lock file, made where it is missing.
    /// - Returns: nil where somebody else has the lock, in this process or another.
    /// - Throws: `FileError` where the lock file cannot be opened or locked at all.
    package static func tryExclusive(_ path: FilePath) throws(FileError) -> FileLock? {
        for _ in 0..<attempts {
            if let lock = try acquire(path, LOCK_EX | LOCK_NB) { return lock }
            // Whoever only asks whether the lock is held has a share in it for a moment: that is waited out.
            if try isHeld(path) { return nil }
            usleep(pause)
        }
        return nil
    }

    /// Takes the lock, waiting until nobody else has it; blocks the calling thread.
    package static func exclusive(_ path: FilePath) throws(FileError) -> FileLock {
        guard let lock = try acquire(path, LOCK_EX) else {
            throw FileError("lock", path, .resourceTemporarilyUnavailable)
        }
        return lock
    }

    /// Takes a share in the lock, which any number may have at one time; waits while somebody has all of it.
    package static func shared(_ path: FilePath) throws(FileError) -> FileLock {
        let file = try Descriptor.openFile(path, O_RDWR | O_CREAT, permissions: 0o600)
        guard try lock(file, LOCK_SH, path) else {
            throw FileError("lock", path, .resourceTemporarilyUnavailable)
        }
        return FileLock(file: file)
    }

    /// Turns a share into all of the lock.
    ///
    /// - Returns: false where somebody else has a share as well; this one may be lost then.
    package borrowing func isTheOnlyShare() -> Bool {
        let number = file.number
        return retryingInterrupts({ flock(number, LOCK_EX | LOCK_NB) }) == 0
    }

    private static func acquire(_ path: FilePath, _ operation: CInt) throws(FileError) -> FileLock? {
        let file = try Descriptor.openFile(path, O_RDWR | O_CREAT, permissions: 0o600)
        guard try lock(file, operation, path) else { return nil }
        try file.truncate(to: 0, path: path)
        try file.write(LockHolder.current.text, path: path)
        return FileLock(file: file)
    }

    /// - Returns: false where it is not to be had now.
    private static func lock(
        _ file: borrowing Descriptor, _ operation: CInt, _ path: FilePath
    ) throws(FileError) -> Bool {
        let number = file.number
        if retryingInterrupts({ flock(number, operation) }) == 0 { return true }
        guard Errno.current == .wouldBlock else { throw FileError("lock", path, .current) }
        return false
    }

    deinit {
        // A name that is left behind would do no harm.
        _ = ftruncate(file.number, 0)
        // Closing alone would leave the lock to a child process that has not begun its own program yet.
        flock(file.number, LOCK_UN)
    }

    /// Whether somebody has the lock; asking writes nothing, and never keeps anybody from taking it.
    package static func isHeld(_ path: FilePath) throws(FileError) -> Bool {
        do {
            return try !lock(Descriptor.openFile(path, O_RDONLY), LOCK_SH | LOCK_NB, path)
        } catch {
            guard error.code == .noSuchFileOrDirectory else { throw error }
            return false
        }
    }

    /// Sets the lock file's time to now: so long its holder was at work.
    package borrowing func touch() {
        _ = futimens(file.number, nil)
    }

    /// Who has the lock, as far as the lock file tells; to be asked only after taking the lock has failed.
    ///
    /// - Returns: nil where the holder has not written its name.
    package static func holder(of path: FilePath) throws(FileError) -> LockHolder? {
        LockHolder(try Descriptor.openFile(path, O_RDONLY).readToEnd(limit: LockHolder.byteLimit, path: path))
    }
}
