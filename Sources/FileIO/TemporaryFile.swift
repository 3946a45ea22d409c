// A file that appears under its real name only when it is complete.

internal import CLinux
internal import Glibc
package import SystemPackage

/// A new file under a temporary name; it is renamed when complete, and removed if it never is.
///
/// The file is locked (flock(2)) while it is written: an unlocked one was left behind by a killed process.
package struct TemporaryFile: ~Copyable, Sendable {
    /// The file, open for reading and writing.
    package let file: Descriptor
    private let directory: Descriptor
    private let name: CName
    private let path: FilePath
    private var hasTemporaryName = true

    /// The prefix of every temporary name.
    package static let namePrefix = ".archiver-"
    private static let nameSuffix = ".tmp"

    /// Creates an empty file in `directory`, which must also be the directory of its real name.
    ///
    /// - Parameters:
    ///   - permissions: mode bits; the process's umask applies.
    ///   - path: the file's final path, for errors.
    package init(
        in directory: borrowing Descriptor, permissions: UInt16 = 0o600, path: FilePath
    ) throws(FileError) {
        let folder = try directory.duplicate(path: path)
        while true {
            let name = Self.newName()
            let number = folder.number
            let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
            let result = retryingInterrupts {
                name.withPointer { clinux_openat(number, $0, flags, UInt32(permissions)) }
            }
            if result < 0 { throw FileError("create", path, .current) }
            let made = Descriptor(owning: result)
            // If locks are not supported, no other process can treat the file as left behind either.
            _ = retryingInterrupts { flock(result, LOCK_EX) }
            let links: UInt32
            do throws(FileError) { links = try FileStatus.read(made).links } catch {
                _ = name.withPointer { unlinkat(number, $0, 0) }
                throw FileError("create", path, error.code)
            }
            // Another process may have removed it as left behind before it was locked.
            if links == 0 { continue }
            file = made
            self.directory = folder
            self.name = name
            self.path = path
            return
        }
    }

    deinit {
        guard hasTemporaryName else { return }
        let number = directory.number
        _ = name.withPointer { unlinkat(number, $0, 0) }
    }

    /// Renames the file to its real name in the same directory, replacing any object there except a directory.
    ///
    /// To survive a system crash, call `synchronize` on the file before and on the directory after.
    ///
    /// - Parameter unlocks: whether the lock ends at once. Otherwise it ends when the last copy of the descriptor is closed;
    ///   a program that another thread is starting has one until its execve(2).
    package consuming func rename(to newName: borrowing CName, unlocks: Bool = false) throws(FileError) {
        try directory.rename(name, to: newName, in: directory, path: path)
        hasTemporaryName = false
        if unlocks { flock(file.number, LOCK_UN) }
    }

    /// Renames the file to a new name in the same directory.
    ///
    /// - Throws: `FileError`, with the code `.fileExists` if the name exists.
    package consuming func rename(toNew newName: borrowing CName) throws(FileError) {
        try directory.rename(name, toNew: newName, path: path)
        hasTemporaryName = false
    }

    // MARK: Names

    /// Whether `name` is a temporary name made by this type.
    ///
    /// No other file has such a name by chance, because the second half is computed from the first.
    package static func isTemporaryName(_ name: some BidirectionalCollection<UInt8>) -> Bool {
        // Nearly all names fail here.
        guard name.last == nameSuffix.utf8.last, name.count == nameLength, name.starts(with: namePrefix.utf8),
            name.reversed().starts(with: nameSuffix.utf8.reversed())
        else { return false }
        let digits = String(decoding: name.dropFirst(namePrefix.utf8.count).prefix(2 * digitCount), as: UTF8.self)
        guard let random = UInt64(digits.prefix(digitCount), radix: 16) else { return false }
        return digits == self.digits(random) + self.digits(proof(random))
    }

    /// Makes a temporary name.
    ///
    /// 64 random bits make the names of two processes differ.
    package static func newName() -> CName {
        let random = UInt64.random(in: 0...UInt64.max)
        return CName("\(namePrefix)\(digits(random))\(digits(proof(random)))\(nameSuffix)".utf8)
    }

    private static let digitCount = 16
    private static let nameLength = namePrefix.utf8.count + 2 * digitCount + nameSuffix.utf8.count

    private static func digits(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: digitCount - digits.count) + digits
    }

    /// 64 bits computed from `random`: the finalizer of MurmurHash3, with a constant of our own.
    private static func proof(_ random: UInt64) -> UInt64 {
        var value = random ^ 0x6172_6368_6976_6572
        value = (value ^ (value >> 33)) &* 0xff51_afd7_ed55_8ccd
        value = (value ^ (value >> 33)) &* 0xc4ce_b9fe_1a85_ec53
        return value ^ (value >> 33)
    }

    // MARK: Left behind

    /// Removes the temporary name `name` from `directory` if a killed process left it behind.
    ///
    /// - Returns: false if a process still uses it.
    package static func removeLeftBehind(
        _ name: CName, in directory: borrowing Descriptor, path: FilePath
    ) throws(FileError) -> Bool {
        let number = directory.number
        let opened = name.withPointer {
            clinux_openat(number, $0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0)
        }
        if opened >= 0 {
            let file = Descriptor(owning: opened)
            if flock(file.number, LOCK_EX | LOCK_NB) != 0, Errno.current == .wouldBlock { return false }
            try directory.removeFile(name, path: path)
            return true
        }
        if Errno.current == .noSuchFileOrDirectory { return true }
        // A link or a device, which is created in one step, or a file that cannot be read.
        try directory.removeFile(name, path: path)
        return true
    }
}
