// The type of a file's file system, its size and its free space.

internal import CLinux
internal import Glibc
internal import SystemPackage

/// The file system that holds a file.
package struct FileSystem: Sendable, Hashable {
    /// Where changes to a file system's files can come from.
    package enum Reach: Sendable, Hashable {
        /// This machine alone: the kernel sees all changes.
        case local
        /// Also other machines or user programs, unseen by the kernel.
        case remote
        /// Nowhere: the kernel generates the files.
        case pseudo
    }

    /// `f_type` of statfs(2).
    package let magic: UInt32

    /// A file system with the given magic number.
    package init(magic: UInt32) { self.magic = magic }

    /// The file system that holds an open file or directory (also one opened with O_PATH).
    package static func of(
        _ file: borrowing Descriptor, path: @autoclosure () -> RelativePath = .root
    ) throws(FileError) -> FileSystem {
        let magic = clinux_file_system_magic(file.number)
        if magic < 0 { throw FileError("stat", path(), .current) }
        return FileSystem(magic: UInt32(truncatingIfNeeded: magic))
    }

    /// Bytes that an ordinary user can still write on the file system that holds an open file.
    package static func freeBytes(
        of file: borrowing Descriptor, path: @autoclosure () -> RelativePath = .root
    ) throws(FileError) -> UInt64 {
        let count = clinux_free_bytes(file.number)
        if count < 0 { throw FileError("stat", path(), .current) }
        return UInt64(count)
    }

    /// The size in bytes of the file system that holds an open file, used and free.
    package static func totalBytes(
        of file: borrowing Descriptor, path: @autoclosure () -> RelativePath = .root
    ) throws(FileError) -> UInt64 {
        let count = clinux_total_bytes(file.number)
        if count < 0 { throw FileError("stat", path(), .current) }
        return UInt64(count)
    }

    /// Whether an ordinary user can create so many files on the file system that holds an open file.
    package static func hasRoom(forFiles count: UInt, of file: borrowing Descriptor) throws(FileError) -> Bool {
        var status = statvfs()
        if fstatvfs(file.number, &status) != 0 { throw FileError("stat", ".", .current) }
        // Some file systems do not count inodes.
        return status.f_bavail > 0 && (status.f_files == 0 || status.f_favail >= count)
    }

    /// The type's name as in mount(8), or the magic number in hexadecimal if it is unknown.
    package var name: String { known?.name ?? "0x\(String(magic, radix: 16))" }

    /// Whether its files are stored in memory only.
    package var isInMemory: Bool { ["tmpfs", "ramfs"].contains(name) }

    /// Where changes to its files can come from; an unknown file system counts as local.
    package var reach: Reach { known?.reach ?? .local }

    private var known: (name: String, reach: Reach)? { FileSystem.known[magic] }

    /// Magic numbers of linux/magic.h and statfs(2).
    private static let known: [UInt32: (name: String, reach: Reach)] = [
        0xEF53: ("ext4", .local),
        0x9123_683E: ("btrfs", .local),
        0x5846_5342: ("xfs", .local),
        0x2FC1_2FC1: ("zfs", .local),
        0xCA45_1A4E: ("bcachefs", .local),
        0xF2F5_2010: ("f2fs", .local),
        0x0102_1994: ("tmpfs", .local),
        0x8584_58F6: ("ramfs", .local),
        0x794C_7630: ("overlay", .local),
        0x4D44: ("vfat", .local),
        0x2011_BAB0: ("exfat", .local),
        0x7366_746E: ("ntfs3", .local),
        0x5265_4973: ("reiserfs", .local),
        0x3153_464A: ("jfs", .local),
        0x4244: ("hfs", .local),
        0x482B: ("hfsplus", .local),
        0x9660: ("iso9660", .local),
        0x1501_3346: ("udf", .local),
        0x7371_7368: ("squashfs", .local),
        0xE0F5_E1E2: ("erofs", .local),
        0xF15F: ("ecryptfs", .local),
        0x6969: ("nfs", .remote),
        0xFF53_4D42: ("cifs", .remote),
        0xFE53_4D42: ("smb2", .remote),
        0x517B: ("smb", .remote),
        0x0102_1997: ("9p", .remote),
        0x6573_5546: ("fuse", .remote),
        0x00C3_6400: ("ceph", .remote),
        0x5346_414F: ("afs", .remote),
        0x6B41_4653: ("kafs", .remote),
        0x7375_7245: ("coda", .remote),
        0x0BD0_0BD0: ("lustre", .remote),
        0x4750_4653: ("gpfs", .remote),
        0x1983_0326: ("fhgfs", .remote),
        0x0116_1970: ("gfs2", .remote),
        0x7461_636F: ("ocfs2", .remote),
        0x786F_4256: ("vboxsf", .remote),
        0xBACB_ACBC: ("vmhgfs", .remote),
        0x9FA0: ("proc", .pseudo),
        0x6265_6572: ("sysfs", .pseudo),
        0x0027_E0EB: ("cgroup", .pseudo),
        0x6367_7270: ("cgroup2", .pseudo),
        0x6462_6720: ("debugfs", .pseudo),
        0x7472_6163: ("tracefs", .pseudo),
        0x7363_6673: ("securityfs", .pseudo),
        0xF97C_FF8C: ("selinuxfs", .pseudo),
        0x6265_6570: ("configfs", .pseudo),
        0x6165_676C: ("pstore", .pseudo),
        0xDE5E_81E4: ("efivarfs", .pseudo),
        0xCAFE_4A11: ("bpf", .pseudo),
        0x1CD1: ("devpts", .pseudo),
        0x1980_0202: ("mqueue", .pseudo),
        0x6E73_6673: ("nsfs", .pseudo),
        0x0187: ("autofs", .pseudo),
        0x4249_4E4D: ("binfmt_misc", .pseudo),
    ]
}
