// Which commits are running: no chunk that one of them may have looked up is dropped before it ends.

internal import FileIO
internal import Glibc
internal import SystemPackage
internal import Threading

/// While an epoch lives, nothing that the archive held when it began is dropped.
///
/// A caller that will write references to stored chunks begins an epoch before its first lookup: of a parent, a base,
/// or whether a chunk is stored.
package final class Epoch: Sendable {
    private let epochs: Epochs
    private let side: Int

    fileprivate init(_ epochs: Epochs, side: Int) {
        self.epochs = epochs
        self.side = side
    }

    deinit { epochs.leave(side) }
}

/// Epochs of an archive, counted in a file that all processes share; even and odd epochs have a lock file each.
///
/// A commit shares the lock of its epoch (flock(2)); the kernel releases it even if the process dies. To drop segments,
/// a reclaimer condemns them in the catalogue, begins the next epoch, and waits until the previous one has no holder:
/// from then on all commits know. A commit never waits for a reclaimer. This is the grace period of read-copy-update
/// (McKenney and Slingwine, "Read-Copy Update: Using Execution History to Solve Concurrency Problems", 1998), with two
/// sides as in sleepable RCU.
final class Epochs: Sendable {
    private let files: [LockFile]
    private let number: LockFile
    private let holders = Locked<[Int]>([0, 0])

    private static let numberLength = 8

    init(_ layout: ArchiveLayout) throws(StorageError) {
        number = try LockFile(layout, "epoch")
        files = [try LockFile(layout, "epoch.0"), try LockFile(layout, "epoch.1")]
    }

    /// Begins an epoch for a caller that will use stored chunks.
    func enter() throws(StorageError) -> Epoch {
        while true {
            let current = try read()
            let side = Int(current & 1)
            try holders.withLock { holders throws(StorageError) in
                if holders[side] == 0 { try files[side].share() }
                holders[side] += 1
            }
            let epoch = Epoch(self, side: side)
            // If the next epoch began in between, a reclaimer might not wait for this share.
            if try read() == current { return epoch }
        }
    }

    fileprivate func leave(_ side: Int) {
        holders.withLock { holders in
            holders[side] -= 1
            if holders[side] == 0 { files[side].unlock() }
        }
    }

    /// Begins the next epoch; only the one reclaimer calls this.
    ///
    /// - Returns: the side of the previous epoch, for `hasEnded`.
    func advance() throws(StorageError) -> Int {
        let current = try read()
        try number.write(current &+ 1)
        return Int(current & 1)
    }

    /// The side of the previous epoch; the next one has the same side.
    func sideBefore() throws(StorageError) -> Int { Int((try read() &+ 1) & 1) }

    /// Whether the epoch of `side` has no holder any more.
    ///
    /// - Parameter layout: the archive's layout: the file is opened again to ask, as this object may share the lock
    ///   itself.
    func hasEnded(_ side: Int, _ layout: ArchiveLayout) throws(StorageError) -> Bool {
        try LockFile(layout, "epoch.\(side)").tryLock()
    }

    /// A suspended process that holds the epoch of `side`; nil if there is none.
    func stoppedHolder(_ side: Int) -> LockHolder? { KernelLocks.stoppedHolder(of: files[side].path) }

    /// Whether a commit of another object is running, in this process or another.
    var isHeldElsewhere: Bool { files.contains(where: \.isSharedElsewhere) }

    private func read() throws(StorageError) -> UInt64 { try number.read() }
}

/// A lock file that stays open.
private final class LockFile: Sendable {
    private let descriptor: Descriptor
    let path: FilePath

    init(_ layout: ArchiveLayout, _ name: String) throws(StorageError) {
        let file = layout.lock(name)
        path = file.path
        do { descriptor = try file.openOrCreate(O_RDWR) } catch {
            // Opening an archive creates the directory.
            guard error.code == .noSuchFileOrDirectory else { throw StorageError(error) }
            throw StorageError.replaced(layout.directory)
        }
    }

    deinit { unlock() }

    func share() throws(StorageError) {
        let number = descriptor.number
        if retryingInterrupts({ flock(number, LOCK_SH) }) != 0 {
            throw StorageError(FileError("lock", path, .current))
        }
        descriptor.mark()
    }

    /// Whether others share the lock, except through this value.
    var isSharedElsewhere: Bool { descriptor.isMarkedElsewhere }

    /// Tries to acquire the lock exclusively, for as long as this value lives.
    func tryLock() throws(StorageError) -> Bool {
        let number = descriptor.number
        if retryingInterrupts({ flock(number, LOCK_EX | LOCK_NB) }) == 0 { return true }
        let code = Errno.current
        guard code == .wouldBlock else { throw StorageError(FileError("lock", path, code)) }
        return false
    }

    func unlock() {
        descriptor.unmark()
        flock(descriptor.number, LOCK_UN)
    }

    /// The number in the file; 0 if there is none yet.
    func read() throws(StorageError) -> UInt64 {
        try storing { () throws(FileError) in
            var bytes: UInt64 = 0
            _ = try withUnsafeMutableBytes(of: &bytes) { buffer throws(FileError) in
                try descriptor.read(into: buffer, at: 0, path: path)
            }
            return UInt64(littleEndian: bytes)
        }
    }

    func write(_ number: UInt64) throws(StorageError) {
        let bytes = withUnsafeBytes(of: number.littleEndian, Array.init)
        try storing { () throws(FileError) in
            // It may be a hard link to a file of the user.
            let size = try FileStatus.read(descriptor).size
            guard size == 0 || size == bytes.count else { throw FileError("count in", path, .invalidArgument) }
            try descriptor.write(bytes, at: 0, path: path)
        }
    }
}
