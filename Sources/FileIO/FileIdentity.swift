// Which file-system object something is, whatever its path.

internal import Glibc
package import SystemPackage

/// An inode of a file system.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    package init(_ status: FileStatus) {
        self.init(device: status.device, inode: status.inode)
    }

    /// What `path` leads to; nil where there is nothing, or it cannot be told.
    ///
    /// The file is not opened for it: closing it again would end locks that this process has on it (fcntl(2)).
    package init?(at path: FilePath) {
        guard let found = try? FileIdentity.find(path) else { return nil }
        self = found
    }

    /// What `path` leads to; nil where there is nothing.
    ///
    /// - Throws: `FileError` where that cannot be told.
    package static func find(_ path: FilePath) throws(FileError) -> FileIdentity? {
        var status = stat()
        if path.withPlatformString({ stat($0, &status) }) == 0 {
            return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        }
        let code = Errno.current
        if code == .noSuchFileOrDirectory || code == .notDirectory { return nil }
        throw FileError("examine", path, code)
    }
}
