// The locks of a root: one watcher at a time, one capture at a time.

internal import ArchiveFormat
package import ArchiveStorage
internal import Dispatch
package import FileIO
internal import Glibc
package import SystemPackage

/// Kernel locks for one root of an archive; each is released when its value is.
package enum RootLock {
    /// Acquires the lock to capture `root`; waits while another process holds it and is running.
    ///
    /// - Throws: `StorageError` with the code `inUse` if the other process is stopped.
    package static func capturing(_ root: FilePath, in layout: ArchiveLayout) throws -> FileLock {
        do {
            return try FileLock.exclusive(
                path("capture", root, layout), for: "capturing or restoring \(root)", in: layout)
        } catch let error as FileError where error.code == .noSuchFileOrDirectory {
            throw StorageError.replaced(layout.directory)
        }
    }

    /// Acquires the lock to capture `root`; waits while another process holds it, until `mustStop` returns true.
    ///
    /// - Throws: `ArchiverError` with the code `locked`, naming the other process.
    package static func capturing(
        _ root: FilePath, in layout: ArchiveLayout, unless mustStop: () -> Bool
    ) throws -> FileLock {
        let path = path("capture", root, layout)
        do { if let lock = try FileLock.tryExclusive(path) { return lock } } catch {
            guard error.code == .noSuchFileOrDirectory else { throw error }
            throw StorageError.replaced(layout.directory)
        }
        let wait = try LockWait(path)
        while true {
            if let lock = try wait.lock(within: .milliseconds(50)) { return lock }
            if mustStop() {
                throw ArchiverError(
                    .locked,
                    "\(root) is being captured\(try holder(of: path)): its last changes are not in the archive",
                    remedy: "capture it again when that capture has ended", path: root)
            }
        }
    }

    /// Acquires a shared lock on `root` for the run of a command.
    package static func running(_ root: FilePath, in layout: ArchiveLayout) throws -> FileLock {
        try FileLock.shared(path("run", root, layout))
    }

    /// Acquires the lock to watch `root`.
    ///
    /// - Throws: `ArchiverError` with the code `locked`, naming the other process.
    package static func watching(_ root: FilePath, in layout: ArchiveLayout) throws -> FileLock {
        let path = path("watch", root, layout)
        if let lock = try FileLock.tryExclusive(path) { return lock }
        throw ArchiverError(
            .locked, "\(root) is already being watched\(try holder(of: path))",
            remedy: "stop that watcher first, or use another archive", path: root)
    }

    private static func holder(of path: EnclosedPath) throws -> String {
        try FileLock.holder(of: path).map { " by process \($0.process) (\($0.command))" } ?? ""
    }

    /// The process that watches `root`; nil if the lock does not name one.
    package static func watcher(of root: FilePath, in layout: ArchiveLayout) -> Int32? {
        (try? FileLock.holder(of: path("watch", root, layout)))?.process
    }

    /// Whether a process watches `root`.
    package static func isWatched(_ root: FilePath, in layout: ArchiveLayout) throws -> Bool {
        try FileLock.isHeld(path("watch", root, layout))
    }

    /// When the last watcher of `root` was last active; nil if there was none.
    package static func lastWatched(_ root: FilePath, in layout: ArchiveLayout) throws -> Timestamp? {
        do throws(FileError) {
            let file = try path("watch", root, layout).open(O_RDONLY)
            return try FileStatus.read(file).modified
        } catch {
            guard error.code == .noSuchFileOrDirectory else { throw error }
            return nil
        }
    }

    /// The socket at which the watcher of `root` accepts requests.
    package static func socket(of root: FilePath, in layout: ArchiveLayout) -> EnclosedPath {
        layout.lock("watch-\(name(root)).socket")
    }

    private static func name(_ root: FilePath) -> Substring {
        ChunkID(hashing: root.bytes).hex.prefix(16)
    }

    private static func path(_ purpose: String, _ root: FilePath, _ layout: ArchiveLayout) -> EnclosedPath {
        layout.lock("\(purpose)-\(name(root)).lock")
    }
}
