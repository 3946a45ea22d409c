// Creates, renames and removes names in an open directory. Nothing here follows a symbolic link.

internal import CLinux
internal import Glibc
package import SystemPackage

extension Descriptor {
    /// Creates the directory `name` (mkdirat(2)); the process's umask applies to `permissions`.
    package borrowing func createDirectory(
        _ name: borrowing CName, permissions: UInt16, path: @autoclosure () -> FilePath
    ) throws(FileError) {
        let number = number
        try Self.check("create directory", path()) { name.withPointer { mkdirat(number, $0, mode_t(permissions)) } }
    }

    /// Creates the symbolic link `name` that points to `target` (symlinkat(2)).
    package borrowing func createSymbolicLink(
        _ name: borrowing CName, target: borrowing CName, path: @autoclosure () -> FilePath
    ) throws(FileError) {
        let number = number
        try Self.check("create link", path()) {
            name.withPointer { name in target.withPointer { symlinkat($0, number, name) } }
        }
    }

    /// Creates `name` in `self` as another hard link to the file `existing` in `directory` (linkat(2)).
    package borrowing func createLink(
        _ name: borrowing CName, to existing: borrowing CName, in directory: borrowing Descriptor,
        path: @autoclosure () -> FilePath
    ) throws(FileError) {
        let number = number
        let source = directory.number
        try Self.check("link", path()) {
            name.withPointer { name in existing.withPointer { linkat(source, $0, number, name, 0) } }
        }
    }

    /// Creates a FIFO, a socket file or (as root) a device (mknodat(2)); the umask applies to `permissions`.
    ///
    /// - Parameter device: the device number, in glibc's `dev_t` encoding.
    package borrowing func createSpecialFile(
        _ name: borrowing CName, kind: FileKind, permissions: UInt16, device: UInt64 = 0,
        path: @autoclosure () -> FilePath
    ) throws(FileError) {
        let number = number
        try Self.check("create", path()) {
            name.withPointer { mknodat(number, $0, kind.modeBits | mode_t(permissions), dev_t(device)) }
        }
    }

    /// Renames `name` in `self` to `newName` in `directory`, replacing any object of that name (renameat(2)).
    package borrowing func rename(
        _ name: borrowing CName, to newName: borrowing CName, in directory: borrowing Descriptor,
        path: @autoclosure () -> FilePath
    ) throws(FileError) {
        let number = number
        let target = directory.number
        try Self.check("rename", path()) {
            name.withPointer { name in newName.withPointer { renameat(number, name, target, $0) } }
        }
    }

    /// Renames `temporary` to `name`, replacing any object of that name; removes `temporary` if that fails.
    package borrowing func replace(
        _ name: borrowing CName, with temporary: borrowing CName, path: @autoclosure () -> FilePath
    ) throws(FileError) {
        let number = number
        defer {
            // After a rename `temporary` is gone, unless both were names of the same file (rename(2)).
            _ = temporary.withPointer { unlinkat(number, $0, 0) }
        }
        try Self.check("rename", path()) {
            temporary.withPointer { temporary in name.withPointer { renameat(number, temporary, number, $0) } }
        }
    }

    /// Renames the file `name` to `newName` and fails if that name exists (renameat2(2), RENAME_NOREPLACE).
    package borrowing func rename(
        _ name: borrowing CName, toNew newName: borrowing CName, path: @autoclosure () -> FilePath
    ) throws(FileError) {
        let number = number
        let path = path()
        do throws(FileError) {
            try Self.check("create", path) {
                name.withPointer { name in
                    newName.withPointer { clinux_rename(number, name, number, $0, UInt32(CLINUX_RENAME_NOREPLACE)) }
                }
            }
        } catch {
            // Some file systems do not support this flag. A hard link does not replace an existing name either.
            guard error.code == .invalidArgument || error.code == .noFunction else { throw error }
            try createLink(newName, to: name, in: self, path: path)
            try removeFile(name, path: path)
        }
    }

    /// Removes a name that is not a directory (unlinkat(2)).
    package borrowing func removeFile(
        _ name: borrowing CName, path: @autoclosure () -> FilePath
    ) throws(FileError) {
        let number = number
        try Self.check("remove", path()) { name.withPointer { unlinkat(number, $0, 0) } }
    }

    /// Removes an empty directory (unlinkat(2), AT_REMOVEDIR).
    package borrowing func removeDirectory(
        _ name: borrowing CName, path: @autoclosure () -> FilePath
    ) throws(FileError) {
        let number = number
        try Self.check("remove", path()) { name.withPointer { unlinkat(number, $0, AT_REMOVEDIR) } }
    }

    /// A second descriptor of the same open file.
    package borrowing func duplicate(path: @autoclosure () -> FilePath) throws(FileError) -> Descriptor {
        let result = clinux_duplicate(number)
        if result < 0 { throw FileError("open", path(), .current) }
        return Descriptor(owning: result)
    }

    /// Makes a system call, retries it after a signal, and throws if it failed.
    static func check(
        _ operation: String, _ path: @autoclosure () -> FilePath, _ call: () -> CInt
    ) throws(FileError) {
        if retryingInterrupts(call) != 0 { throw FileError(operation, path(), .current) }
    }
}
