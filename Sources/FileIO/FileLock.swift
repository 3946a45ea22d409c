// Locks between processes: flock(2) on a file that is never removed.
//
// The kernel releases the lock when its holder ends, for whatever reason, so a leftover lock file is harmless. The
// file's content only tells other processes who the holder is.

internal import Glibc
internal import SystemPackage

/// A lock on a file, released when the value ends.
package struct FileLock: ~Copyable, Sendable {
    private let file: Descriptor
    /// Whether the holder's name was written into the file.
    private let isNamed: Bool

    /// How often `tryExclusive` tries while only shared locks block it, and the microseconds between.
    private static let attempts = 500
    private static let pause: UInt32 = 2_000

    /// Acquires the lock if it is free.
    ///
    /// It waits, at most about a second, only while others hold the lock as shared.
    ///
    /// - Parameter path: the lock file, created if it is missing.
    /// - Returns: nil if the lock is held, by this process or another.
    /// - Throws: `FileError` if the lock file cannot be opened or locked.
    package static func tryExclusive(_ path: EnclosedPath) throws(FileError) -> FileLock? {
        for _ in 0..<attempts {
            if let lock = try acquire(path, LOCK_EX | LOCK_NB) { return lock }
            // Another process's `isHeld` check holds a share of the lock for a moment: wait until it is released.
            if try isHeld(path) { return nil }
            usleep(pause)
        }
        return nil
    }

    /// Acquires the lock; blocks the calling thread until it is free.
    package static func exclusive(_ path: EnclosedPath) throws(FileError) -> FileLock {
        guard let lock = try acquire(path, LOCK_EX) else {
            throw FileError("lock", path.path, .resourceTemporarilyUnavailable)
        }
        return lock
    }

    /// Acquires the lock as shared, which any number of holders may have; waits while it is held exclusively.
    package static func shared(_ path: EnclosedPath) throws(FileError) -> FileLock {
        let file = try path.openOrCreate(O_RDWR)
        guard try lock(file, LOCK_SH, path) else {
            throw FileError("lock", path.path, .resourceTemporarilyUnavailable)
        }
        return FileLock(file: file, isNamed: false)
    }

    /// Turns a shared lock into an exclusive one.
    ///
    /// - Returns: false if there are other holders; the shared lock may be lost then.
    package borrowing func isTheOnlyShare() -> Bool {
        let number = file.number
        return retryingInterrupts({ flock(number, LOCK_EX | LOCK_NB) }) == 0
    }

    private static func acquire(_ path: EnclosedPath, _ operation: CInt) throws(FileError) -> FileLock? {
        let file = try path.openOrCreate(O_RDWR)
        guard try lock(file, operation, path) else { return nil }
        let isNamed = write(LockHolder.current, into: file, path)
        return FileLock(file: file, isNamed: isNamed)
    }

    /// Writes the holder's name into the lock file; the lock holds without it, as on a full disk.
    ///
    /// A file that holds anything but such a name stays unchanged: it may be a hard link to a file of the user.
    ///
    /// - Returns: whether the file holds a name now, or a part of it.
    private static func write(
        _ holder: LockHolder, into file: borrowing Descriptor, _ path: EnclosedPath
    ) -> Bool {
        guard let status = try? FileStatus.read(file), status.size <= LockHolder.byteLimit,
            let old = try? file.readToEnd(limit: LockHolder.byteLimit, path: path.path),
            old.isEmpty || LockHolder(old) != nil
        else { return false }
        try? file.truncate(to: 0, path: path.path)
        try? file.write(holder.text, at: 0, path: path.path)
        return true
    }

    /// Locks the open file.
    ///
    /// - Returns: false if the lock is held by another.
    private static func lock(
        _ file: borrowing Descriptor, _ operation: CInt, _ path: EnclosedPath
    ) throws(FileError) -> Bool {
        let number = file.number
        if retryingInterrupts({ flock(number, operation) }) == 0 { return true }
        guard Errno.current == .wouldBlock else { throw FileError("lock", path.path, .current) }
        return false
    }

    deinit {
        // If this fails, the holder's name stays in the file, which does no harm.
        if isNamed { _ = ftruncate(file.number, 0) }
        // Closing alone would leave the lock with a forked child that has not called exec yet.
        flock(file.number, LOCK_UN)
    }

    /// Whether the lock is held exclusively.
    ///
    /// The check writes nothing. It holds a share of the lock for a moment, which `tryExclusive` waits for.
    package static func isHeld(_ path: EnclosedPath) throws(FileError) -> Bool {
        do {
            return try !lock(path.open(O_RDONLY), LOCK_SH | LOCK_NB, path)
        } catch {
            guard error.code == .noSuchFileOrDirectory else { throw error }
            return false
        }
    }

    /// Sets the lock file's modification time to now, which shows that its holder was still running.
    package borrowing func touch() {
        _ = futimens(file.number, nil)
    }

    /// The holder named in the lock file; call this only after acquiring the lock has failed.
    ///
    /// - Returns: nil if the holder has not written its name.
    package static func holder(of path: EnclosedPath) throws(FileError) -> LockHolder? {
        LockHolder(try path.open(O_RDONLY).readToEnd(limit: LockHolder.byteLimit, path: path.path))
    }
}
