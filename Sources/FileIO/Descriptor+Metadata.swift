// Sets a file's owner, permissions and times, by name in an open directory or by open file.
//
// Set them in this order: owner (clears setuid and capabilities), extended attributes (an ACL changes permissions),
// permissions, times.

internal import CLinux
internal import Glibc
package import SystemPackage

extension Descriptor {
    /// Sets the owner and group of `name` in the directory `self`; of a symbolic link itself, not its target.
    package borrowing func setOwner(
        _ owner: UInt32, group: UInt32, of name: borrowing CName, path: @autoclosure () -> FilePath
    ) throws(FileError) {
        let number = number
        try Self.check("change owner of", path()) {
            name.withPointer { fchownat(number, $0, owner, group, AT_SYMLINK_NOFOLLOW) }
        }
    }

    /// Sets the owner and group of the open file.
    package borrowing func setOwner(
        _ owner: UInt32, group: UInt32, path: @autoclosure () -> FilePath
    ) throws(FileError) {
        let number = number
        try Self.check("change owner of", path()) { fchown(number, owner, group) }
    }

    /// Sets the 12 permission bits of `name` in the directory `self`.
    ///
    /// - Throws: `FileError`; always for a symbolic link, which has no permissions (`.notSupportedOnSocket`, which is
    ///   EOPNOTSUPP).
    package borrowing func setPermissions(
        _ permissions: UInt16, of name: borrowing CName, path: @autoclosure () -> FilePath
    ) throws(FileError) {
        let number = number
        try Self.check("change permissions of", path()) {
            name.withPointer { fchmodat(number, $0, mode_t(permissions), AT_SYMLINK_NOFOLLOW) }
        }
    }

    /// Sets the 12 permission bits of the open file.
    package borrowing func setPermissions(
        _ permissions: UInt16, path: @autoclosure () -> FilePath
    ) throws(FileError) {
        let number = number
        try Self.check("change permissions of", path()) { fchmod(number, mode_t(permissions)) }
    }

    /// Sets the modification time of `name` in the directory `self`; of a symbolic link itself, not its target.
    package borrowing func setModified(
        _ time: Timestamp, of name: borrowing CName, path: @autoclosure () -> FilePath
    ) throws(FileError) {
        let number = number
        try Self.check("set time of", path()) {
            name.withPointer { name in
                withUnsafeTimes(modified: time) { utimensat(number, name, $0, AT_SYMLINK_NOFOLLOW) }
            }
        }
    }

    /// Sets the modification time of the open file.
    package borrowing func setModified(
        _ time: Timestamp, path: @autoclosure () -> FilePath
    ) throws(FileError) {
        let number = number
        try Self.check("set time of", path()) { withUnsafeTimes(modified: time) { futimens(number, $0) } }
    }
}

/// Calls `body` with the two times of utimensat(2); the access time stays unchanged.
private func withUnsafeTimes(modified: Timestamp, _ body: (UnsafePointer<timespec>) -> CInt) -> CInt {
    let omitted = 0x3FFF_FFFE
    let times = (
        timespec(tv_sec: 0, tv_nsec: omitted),
        timespec(tv_sec: Int(modified.seconds), tv_nsec: Int(modified.nanoseconds))
    )
    return withUnsafePointer(to: times) { times in
        times.withMemoryRebound(to: timespec.self, capacity: 2) { body($0) }
    }
}
