// A file that is not there until it is complete.

internal import CLinux
internal import Glibc
package import SystemPackage

/// A new file under a temporary name, which takes its real name once it is complete, and vanishes if it never does.
package struct TemporaryFile: ~Copyable, Sendable {
    /// The file, open for reading and writing.
    package let file: Descriptor
    private let directory: Descriptor
    private let name: CName
    private let path: FilePath
    private var hasTemporaryName = true

    /// How every temporary name begins, so that one left behind by a crash can be told.
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
        let directory = try directory.duplicate(path: path)
        let name = Self.newName()
        let number = directory.number
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let result = retryingInterrupts {
            name.withPointer { clinux_openat(number, $0, flags, UInt32(permissions)) }
        }
        if result < 0 { throw FileError("create", path, .current) }
        file = Descriptor(owning: result)
        self.directory = directory
        self.name = name
        self.path = path
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

    /// Whether `name` is one that this type gives to files.
    package static func isTemporaryName(_ name: [UInt8]) -> Bool {
        name.starts(with: namePrefix.utf8) && name.suffix(nameSuffix.utf8.count).elementsEqual(nameSuffix.utf8)
    }

    /// 64 random bits make the names of two processes differ; O_EXCL makes sure.
    private static func newName() -> CName {
        let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
        return CName("\(namePrefix)\(digits)\(nameSuffix)".utf8)
    }
}
