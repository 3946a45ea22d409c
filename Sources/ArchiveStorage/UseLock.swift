// Locks on an archive: shared by its users, exclusive for one that rebuilds the catalogue. Only one at a time opens it.

internal import Dispatch
package import FileIO
internal import Glibc
internal import SystemPackage
internal import Threading

/// A kernel lock (flock(2)) on the archive, released when the value ends or the process dies.
final class UseLock: Sendable {
    private let descriptor: Descriptor
    private let path: FilePath

    private static let name = "use.lock"

    private init(_ layout: ArchiveLayout, _ name: String = UseLock.name) throws(StorageError) {
        let file = layout.lock(name)
        path = file.path
        descriptor = try storing { () throws(FileError) in
            try layout.locks.createDirectory(durable: false)
            return try file.openOrCreate(O_RDWR)
        }
    }

    deinit {
        // Closing alone would leave the lock to a child process that has not called exec yet.
        descriptor.unmark()
        flock(descriptor.number, LOCK_UN)
    }

    /// Whether others share the lock.
    var isSharedElsewhere: Bool { descriptor.isMarkedElsewhere }

    /// Acquires the lock for creating or opening the archive; waits while another process holds it and is running.
    ///
    /// Everyone who may create something acquires it before `shared`, so the second process finds what the first has
    /// created.
    ///
    /// - Throws: `StorageError` with the code `inUse` if the other process is stopped.
    static func opening(_ layout: ArchiveLayout) throws(StorageError) -> UseLock {
        let lock = try UseLock(layout, "open.lock")
        let number = lock.descriptor.number
        if retryingInterrupts({ flock(number, LOCK_EX | LOCK_NB) }) != 0 {
            guard Errno.current == .wouldBlock else { throw StorageError(FileError("lock", lock.path, .current)) }
            try lock.wait(layout)
        }
        return lock
    }

    /// Waits for the exclusive lock.
    private func wait(_ layout: ArchiveLayout) throws(StorageError) {
        // flock(2) has no timeout, and a caller that polls may never get a busy lock: so a thread waits.
        let isDone = DispatchSemaphore(value: 0)
        let failure = Locked<FileError?>(nil)
        try storing { () throws(FileError) in
            try DetachedThread.start(for: "waiting for a lock") { @Sendable [self] in
                if retryingInterrupts({ flock(descriptor.number, LOCK_EX) }) != 0 {
                    let error = FileError("lock", path, .current)
                    failure.withLock { $0 = error }
                }
                isDone.signal()
            }
        }
        while isDone.wait(timeout: .now() + UseLock.patience) == .timedOut {
            guard let holder = KernelLocks.stoppedHolder(of: path) else { continue }
            throw StorageError.stopped(holder, "opening the archive \(layout.directory)", layout)
        }
        if let error = failure.withLock({ $0 }) { throw StorageError(error) }
    }

    /// How long to wait before the holder is looked at.
    fileprivate static let patience = DispatchTimeInterval.seconds(2)

    /// Acquires the lock shared; waits while another process holds it exclusively.
    static func shared(_ layout: ArchiveLayout) throws(StorageError) -> UseLock {
        let lock = try UseLock(layout)
        try lock.share()
        return lock
    }

    /// Acquires the lock exclusively.
    ///
    /// - Throws: `StorageError` with the code `inUse` if another process uses the archive.
    static func exclusive(_ layout: ArchiveLayout) throws(StorageError) -> UseLock {
        let lock = try UseLock(layout)
        guard try lock.tryExclude() else {
            let users = KernelLocks.holders(of: lock.path).map { "\($0.command) (process \($0.process))" }
            throw StorageError(
                .inUse, layout.directory,
                "the archive \(layout.directory) is in use by "
                    + (users.isEmpty ? "another process" : users.joined(separator: " and by ")),
                remedy: "end all processes that use it first")
        }
        return lock
    }

    /// Tries to acquire the lock exclusively; if that fails, it stays shared.
    ///
    /// - Returns: whether no other process uses the archive.
    func tryExclude() throws(StorageError) -> Bool {
        if retryingInterrupts({ flock(descriptor.number, LOCK_EX | LOCK_NB) }) == 0 { return true }
        let code = Errno.current
        // A failed conversion may have lost the shared lock (flock(2)).
        try share()
        guard code == .wouldBlock else { throw StorageError(FileError("lock", path, code)) }
        return false
    }

    /// Makes the lock shared.
    func share() throws(StorageError) {
        if retryingInterrupts({ flock(descriptor.number, LOCK_SH) }) != 0 {
            throw StorageError(FileError("lock", path, .current))
        }
        descriptor.mark()
    }
}

extension FileLock {
    /// Acquires a lock of an archive; waits while another process holds it and is running.
    ///
    /// - Parameter work: what the holder does, such as "capturing /home".
    /// - Throws: `FileError`; `StorageError` with the code `inUse` if the other process is stopped: it may never go on.
    package static func exclusive(
        _ path: EnclosedPath, for work: String, in layout: ArchiveLayout
    ) throws -> FileLock {
        if let lock = try tryExclusive(path) { return lock }
        let wait = try LockWait(path)
        while true {
            if let lock = try wait.lock(within: UseLock.patience) { return lock }
            if let holder = KernelLocks.stoppedHolder(of: path.path) {
                throw StorageError.stopped(holder, work, layout)
            }
        }
    }
}

extension StorageError {
    /// The error for a lock whose holder is suspended.
    fileprivate static func stopped(_ holder: LockHolder, _ work: String, _ layout: ArchiveLayout) -> StorageError {
        StorageError(
            .inUse, layout.directory, "process \(holder.process) (\(holder.command)) is \(work) and is stopped",
            remedy: "continue it with 'kill -CONT \(holder.process)', or end it")
    }
}
