// Which file-system object something is, whatever its path.

package import FileIO

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
}
