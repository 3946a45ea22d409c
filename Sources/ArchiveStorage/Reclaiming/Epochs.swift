// Which commits are under way: nothing that one of them may have looked up is dropped before it ends.

internal import FileIO
internal import Glibc
internal import SystemPackage
internal import Threading

/// As long as this lives, nothing is dropped that the archive held when it began.
///
/// Whoever will refer to what the archive holds begins one before the first look at it: at a parent, a base, or whether
/// a chunk is stored.
package final class Epoch: Sendable {
    private let epochs: Epochs
    private let side: Int

    fileprivate init(_ epochs: Epochs, side: Int) {
        self.epochs = epochs
        self.side = side
    }

    deinit { epochs.leave(side) }
}

/// Epochs of an archive, counted in a file that all processes share; even and odd ones have a lock file each.
///
/// Commits have a share in the lock of their epoch (flock(2)), which ends with the process however that ends. Whoever is
/// about to drop something says so in the catalogue, begins the next epoch, and waits until nobody has a share in the one
/// before: from then on all commits know. Nobody ever waits for a reclaimer. This is the grace period of read-copy-update
/// (McKenney and Slingwine, "Read-Copy Update: Using Execution History to Solve Concurrency Problems", 1998), with two
/// sides, as sleepable RCU has them.
final class Epochs: Sendable {
    private let files: [LockFile]
    private let number: LockFile
    private let holders = Locked<[Int]>([0, 0])

    private static let numberLength = 8

    init(_ layout: ArchiveLayout) throws(StorageError) {
        number = try LockFile(layout, "epoch")
        files = [try LockFile(layout, "epoch.0"), try LockFile(layout, "epoch.1")]
    }

    /// Begins to use what the archive holds.
    func enter() throws(StorageError) -> Epoch {
        while true {
            let current = try read()
            let side = Int(current & 1)
            try holders.withLock { holders throws(StorageError) in
                if holders[side] == 0 { try files[side].lock(LOCK_SH) }
                holders[side] += 1
            }
            let epoch = Epoch(self, side: side)
            // Where the next one began in between, nobody may wait for this share.
            if try read() == current { return epoch }
        }
    }

    fileprivate func leave(_ side: Int) {
        holders.withLock { holders in
            holders[side] -= 1
            if holders[side] == 0 { files[side].unlock() }
        }
    }

    /// Begins the next epoch; only the one reclaimer does.
    ///
    /// - Returns: the side of the epoch before, for `hasEnded`.
    func advance() throws(StorageError) -> Int {
        let current = try read()
        try number.write(current &+ 1)
        return Int(current & 1)
    }

    /// The side of the epoch before this one, which is that of the next one, too.
    func sideBefore() throws(StorageError) -> Int { Int((try read() &+ 1) & 1) }

    /// Whether nobody has a share in the epoch of `side` any more.
    ///
    /// - Parameter layout: of the archive: the question is asked through another opening of the file, as this one may
    ///   have shares in it.
    func hasEnded(_ side: Int, _ layout: ArchiveLayout) throws(StorageError) -> Bool {
        try LockFile(layout, "epoch.\(side)").tryLock()
    }

    /// The files that commits have a share in, and in how many of them this object has one.
    var paths: [FilePath] { files.map(\.path) }
    var ownShares: Int { holders.withLock { $0.count { $0 > 0 } } }

    private func read() throws(StorageError) -> UInt64 { try number.read() }
}

/// A lock file that stays open.
private final class LockFile: Sendable {
    private let descriptor: Descriptor
    let path: FilePath

    init(_ layout: ArchiveLayout, _ name: String) throws(StorageError) {
        let path = layout.lock(name)
        self.path = path
        do { descriptor = try Descriptor.openFile(path, O_RDWR | O_CREAT, permissions: 0o600) } catch {
            // Whoever opens an archive makes the directory.
            guard error.code == .noSuchFileOrDirectory else { throw StorageError(error) }
            throw StorageError.replaced(layout.directory)
        }
    }

    deinit { unlock() }

    func lock(_ operation: CInt) throws(StorageError) {
        let number = descriptor.number
        if retryingInterrupts({ flock(number, operation) }) != 0 {
            throw StorageError(FileError("lock", path, .current))
        }
    }

    /// Tries to take all of the lock; it ends with this value.
    func tryLock() throws(StorageError) -> Bool {
        let number = descriptor.number
        if retryingInterrupts({ flock(number, LOCK_EX | LOCK_NB) }) == 0 { return true }
        let code = Errno.current
        guard code == .wouldBlock else { throw StorageError(FileError("lock", path, code)) }
        return false
    }

    func unlock() { flock(descriptor.number, LOCK_UN) }

    /// The number in the file; 0 where there is none yet.
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
        try storing { () throws(FileError) in try descriptor.write(bytes, at: 0, path: path) }
    }
}
