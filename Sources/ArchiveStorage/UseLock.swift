// Who uses an archive: everyone together, or one alone while the catalogue is made anew. One at a time opens it.

internal import FileIO
internal import Glibc
internal import SystemPackage

/// A kernel lock (flock(2)) on the whole archive, released when the value ends or the process dies.
final class UseLock: Sendable {
    private let descriptor: Descriptor
    private let path: FilePath

    private static let name = "use.lock"

    /// The file that everybody locks who has the archive open.
    static func path(in layout: ArchiveLayout) -> FilePath { layout.lock(name) }

    private init(_ layout: ArchiveLayout, _ name: String = UseLock.name) throws(StorageError) {
        let path = layout.lock(name)
        self.path = path
        descriptor = try storing { () throws(FileError) in
            try Directory.create(layout.locks, permissions: 0o700, durable: false)
            return try Descriptor.openFile(path, O_RDWR | O_CREAT, permissions: 0o600)
        }
    }

    deinit {
        // Closing alone would leave the lock to a child process that has not begun its own program yet.
        flock(descriptor.number, LOCK_UN)
    }

    /// Becomes the only process that makes or opens the archive; waits for the one that does.
    ///
    /// Taken before `shared`, by everybody who may make anything: the second finds what the first has made.
    static func opening(_ layout: ArchiveLayout) throws(StorageError) -> UseLock {
        let lock = try UseLock(layout, "open.lock")
        if retryingInterrupts({ flock(lock.descriptor.number, LOCK_EX) }) != 0 {
            throw StorageError(FileError("lock", lock.path, .current))
        }
        return lock
    }

    /// Joins those who use the archive; waits while one uses it alone.
    static func shared(_ layout: ArchiveLayout) throws(StorageError) -> UseLock {
        let lock = try UseLock(layout)
        try lock.share()
        return lock
    }

    /// Becomes the archive's only user.
    ///
    /// - Throws: `StorageError` of the code `inUse` where others use it.
    static func exclusive(_ layout: ArchiveLayout) throws(StorageError) -> UseLock {
        let lock = try UseLock(layout)
        guard try lock.tryExclude() else {
            throw StorageError(
                .inUse, layout.directory, "the archive \(layout.directory) is in use by another archiver",
                remedy: "end 'archiver watch' and the like first")
        }
        return lock
    }

    /// Tries to become the only user; where that fails, the lock stays shared.
    ///
    /// - Returns: whether nobody else uses the archive.
    func tryExclude() throws(StorageError) -> Bool {
        if retryingInterrupts({ flock(descriptor.number, LOCK_EX | LOCK_NB) }) == 0 { return true }
        let code = Errno.current
        // A failed conversion may have lost the shared lock (flock(2)).
        try share()
        guard code == .wouldBlock else { throw StorageError(FileError("lock", path, code)) }
        return false
    }

    /// Lets others use the archive too.
    func share() throws(StorageError) {
        if retryingInterrupts({ flock(descriptor.number, LOCK_SH) }) != 0 {
            throw StorageError(FileError("lock", path, .current))
        }
    }
}
