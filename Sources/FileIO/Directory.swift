// Making directories with all that lead to them.

internal import Glibc
package import SystemPackage

/// Directories by path.
package enum Directory {
    /// Makes the directory `path`, and those above it that are missing.
    ///
    /// - Parameters:
    ///   - permissions: mode bits of each directory made; the process's umask takes bits away.
    ///   - durable: whether to wait until the names made are on the disk.
    /// - Throws: `FileError`; `.notDirectory` where `path` or one above it is something else.
    package static func create(_ path: FilePath, permissions: UInt16, durable: Bool) throws(FileError) {
        var missing = [FilePath]()
        var existing = path
        while !existing.isEmpty, try !isDirectory(existing) {
            missing.append(existing)
            if !existing.removeLastComponent() { break }
        }
        for directory in missing.reversed() {
            let result = directory.withPlatformString { mkdir($0, mode_t(permissions)) }
            // Another process may have been quicker.
            if result != 0, Errno.current != .fileExists { throw FileError("create directory", directory, .current) }
            let isThere = try isDirectory(directory)
            if !isThere { throw FileError("create directory", directory, .notDirectory) }
            if durable {
                let parent = directory.removingLastComponent()
                let above = parent.isEmpty ? FilePath(".") : parent
                try Descriptor.open(above, O_RDONLY | O_DIRECTORY).synchronize(path: above)
            }
        }
    }

    /// Whether `path` is a directory or a link to one; false where there is nothing.
    private static func isDirectory(_ path: FilePath) throws(FileError) -> Bool {
        var status = stat()
        if path.withPlatformString({ stat($0, &status) }) != 0 {
            if Errno.current == .noSuchFileOrDirectory { return false }
            throw FileError("create directory", path, .current)
        }
        if FileKind(mode: status.st_mode) == .directory { return true }
        throw FileError("create directory", path, .notDirectory)
    }
}
