// Creates directories together with their missing parents.

internal import Glibc
package import SystemPackage

/// Directories by path.
package enum Directory {
    /// Creates the directory `path` and its missing parents.
    ///
    /// - Parameters:
    ///   - permissions: mode bits of each new directory; the process's umask applies.
    ///   - durable: whether to wait until the new names are on the disk.
    /// - Throws: `FileError`, with the code `.notDirectory` if `path` or a parent exists and is not a directory.
    package static func create(_ path: FilePath, permissions: UInt16, durable: Bool) throws(FileError) {
        var missing = [FilePath]()
        var existing = path
        while !existing.isEmpty, try !isDirectory(existing) {
            missing.append(existing)
            if !existing.removeLastComponent() { break }
        }
        for directory in missing.reversed() {
            let result = directory.withPlatformString { mkdir($0, mode_t(permissions)) }
            // Another process may have created it first.
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

    /// Whether `path` is a directory or a link to one; false if it does not exist.
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
