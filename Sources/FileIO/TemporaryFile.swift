// A file that is not there until it is complete.

internal import CLinux
internal import Glibc
package import SystemPackage

/// A new file under a temporary name, which takes its real name once it is complete, and vanishes if it never does.
///
/// It is locked (flock(2)) as long as it is written: one that is not was left behind by a program that was killed.
package struct TemporaryFile: ~Copyable, Sendable {
    /// The file, open for reading and writing.
    package let file: Descriptor
    private let directory: Descriptor
    private let name: CName
    private let path: FilePath
    private var hasTemporaryName = true

    /// How every temporary name begins.
    package static let namePrefix = ".archiver-"
    private static let nameSuffix = ".tmp"

    /// Makes an empty file in `directory`, the one in which its real name will be.
    ///
    /// - Parameters:
    ///   - permissions: mode bits; the process's umask takes bits away.
    ///   - path: the path the file will have, for errors.
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
            // Where there are no locks, nobody can take the file for one left behind either.
            _ = retryingInterrupts { flock(result, LOCK_EX) }
            let links: UInt32
            do throws(FileError) { links = try FileStatus.read(made).links } catch {
                _ = name.withPointer { unlinkat(number, $0, 0) }
                throw FileError("create", path, error.code)
            }
            // Somebody may have taken it for one left behind before it was locked.
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

    /// Gives the file its real name in the same directory, replacing what is there (but no directory).
    ///
    /// Survives a crash of the system only after `synchronize` of the file before and of the directory after it.
    package consuming func rename(to newName: borrowing CName) throws(FileError) {
        try directory.rename(name, to: newName, in: directory, path: path)
        hasTemporaryName = false
    }

    /// Gives the file a real name in the same directory that nothing has yet.
    ///
    /// - Throws: `FileError` of the code `fileExists` where something has it.
    package consuming func rename(toNew newName: borrowing CName) throws(FileError) {
        try directory.rename(name, toNew: newName, path: path)
        hasTemporaryName = false
    }

    // MARK: Names

    /// Whether `name` is one that this type gives: no other file has such a name by chance, as its second half follows
    /// from its first.
    package static func isTemporaryName(_ name: some BidirectionalCollection<UInt8>) -> Bool {
        // Nearly all names are turned down here.
        guard name.last == nameSuffix.utf8.last, name.count == nameLength, name.starts(with: namePrefix.utf8),
            name.reversed().starts(with: nameSuffix.utf8.reversed())
        else { return false }
        let digits = String(decoding: name.dropFirst(namePrefix.utf8.count).prefix(2 * digitCount), as: UTF8.self)
        guard let random = UInt64(digits.prefix(digitCount), radix: 16) else { return false }
        return digits == self.digits(random) + self.digits(proof(random))
    }

    /// A name for something in `directory` that has no real name yet.
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

    /// 64 bits that nobody else would put behind `random`: the finalizer of MurmurHash3 over a number of our own.
    private static func proof(_ random: UInt64) -> UInt64 {
        var value = random ^ 0x6172_6368_6976_6572
        value = (value ^ (value >> 33)) &* 0xff51_afd7_ed55_8ccd
        value = (value ^ (value >> 33)) &* 0xc4ce_b9fe_1a85_ec53
        return value ^ (value >> 33)
    }

    // MARK: Left behind

    /// Removes `name`, which is a temporary one, from `directory` if a program that was killed left it behind.
    ///
    /// - Returns: false where some program is at work with it.
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
        // A link or a device, which is made and named at one stroke, or a file that may not be read.
        try directory.removeFile(name, path: path)
        return true
    }
}
