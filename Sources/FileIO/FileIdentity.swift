// The identity of a file-system object, independent of its path.

internal import Glibc
package import SystemPackage

/// An inode on a device.
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

    /// The object at `path`; nil if there is none or it cannot be examined.
    ///
    /// The file is not opened: closing it would release locks that this process holds on it (fcntl(2)).
    package init?(at path: FilePath) {
        guard let found = try? FileIdentity.find(path) else { return nil }
        self = found
    }

    /// The object at `path`; nil if there is none.
    ///
    /// - Throws: `FileError` if the path cannot be examined.
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
