// The status of a file, read with statx(2) without opening it.

internal import CLinux
internal import Glibc
package import SystemPackage

/// The status of one file-system object.
package struct FileStatus: Sendable, Hashable {
    package let kind: FileKind
    /// Permission bits with setuid, setgid and sticky: 12 bits.
    package let permissions: UInt16
    package let owner: UInt32
    package let group: UInt32
    /// The number of names of this inode.
    package let links: UInt32
    package let inode: UInt64
    /// The device of the inode's file system, in glibc's `dev_t` encoding.
    package let device: UInt64
    /// The number of a device file, in glibc's `dev_t` encoding; 0 for other kinds.
    package let specialDevice: UInt64
    /// The id of the mount through which the object was reached; 0 if the kernel does not report it.
    package let mount: UInt64
    /// Length in bytes.
    package let size: UInt64
    /// Bytes allocated on disk.
    package let allocatedBytes: UInt64
    package let modified: Timestamp
    /// When the inode last changed in any way (`ctime`); programs cannot set it.
    package let changed: Timestamp

    /// Whether `other` is the status of the same inode on the same file system.
    package func isSameObject(as other: FileStatus) -> Bool {
        inode == other.inode && device == other.device
    }
}

extension FileStatus {
    /// The status of `name` in `directory`, or of `directory` itself if `name` is empty; links are not followed.
    ///
    /// - Returns: nil if there is no such name.
    /// - Throws: `FileError` for any other failure.
    package static func read(
        _ name: borrowing CName, in directory: borrowing Descriptor, path: @autoclosure () -> RelativePath = .root
    ) throws(FileError) -> FileStatus? {
        do throws(Errno) {
            return try name.withPointer { name throws(Errno) in try read(name, in: directory.number) }
        } catch {
            throw FileError("stat", path(), error)
        }
    }

    /// The status of the NUL-terminated `name` in `directory`; links are not followed.
    ///
    /// - Returns: nil if there is no such name.
    /// - Throws: `FileError` for any other failure.
    static func read(
        terminated name: UnsafePointer<CChar>, in directory: borrowing Descriptor, path: @autoclosure () -> RelativePath
    ) throws(FileError) -> FileStatus? {
        do throws(Errno) {
            return try read(name, in: directory.number)
        } catch {
            throw FileError("stat", path(), error)
        }
    }

    /// The length in bytes of the file at `path`, without opening it; nil if its status cannot be read.
    package static func size(at path: FilePath) -> UInt64? {
        var status = stat()
        guard path.withPlatformString({ stat($0, &status) }) == 0 else { return nil }
        return UInt64(clamping: status.st_size)
    }

    private static func read(_ name: UnsafePointer<CChar>, in directory: CInt) throws(Errno) -> FileStatus? {
        var status = clinux_status()
        let flags = Int32(CLINUX_AT_SYMLINK_NOFOLLOW) | Int32(CLINUX_AT_EMPTY_PATH)
        if clinux_statx(directory, name, flags, &status) != 0 {
            let code = Errno.current
            if code == .noSuchFileOrDirectory || code == .notDirectory { return nil }
            throw code
        }
        return FileStatus(status)
    }

    /// The status of an open file.
    package static func read(
        _ descriptor: borrowing Descriptor, path: @autoclosure () -> RelativePath = .root
    ) throws(FileError) -> FileStatus {
        guard let status = try read(CName(), in: descriptor, path: path()) else {
            throw FileError("stat", path(), .noSuchFileOrDirectory)
        }
        return status
    }

    private init?(_ status: clinux_status) {
        guard let kind = FileKind(mode: status.mode) else { return nil }
        self.kind = kind
        permissions = UInt16(status.mode & 0o7777)
        owner = status.uid
        group = status.gid
        links = status.links
        inode = status.inode
        device = status.device
        specialDevice = kind == .characterDevice || kind == .blockDevice ? status.special : 0
        mount = status.mount
        size = status.size
        allocatedBytes = status.blocks &* 512
        modified = Timestamp(seconds: status.modified_seconds, nanoseconds: status.modified_nanoseconds)
        changed = Timestamp(seconds: status.changed_seconds, nanoseconds: status.changed_nanoseconds)
    }
}

extension FileStatus {
    /// Bytes that identify an open object: its file system, its inode and its time of birth; nil if that is unknown.
    ///
    /// They stay the same when the object is renamed or changed. A new object with the same inode has others.
    package static func identity(of descriptor: borrowing Descriptor) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: Int(CLINUX_IDENTITY_SIZE))
        let result = bytes.withUnsafeMutableBytes { clinux_identity(descriptor.number, $0.baseAddress, $0.count) }
        return result == 0 ? bytes : nil
    }
}
