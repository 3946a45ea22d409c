// Open files as owned values, closed exactly once when the value ends; and how they are opened.

internal import CLinux
internal import Glibc
package import SystemPackage

/// An open file descriptor, closed when the value ends.
package struct Descriptor: ~Copyable, Sendable {
    /// The descriptor's number, valid as long as this value lives.
    package let number: CInt

    /// Takes ownership of an open descriptor.
    package init(owning number: CInt) {
        self.number = number
    }

    deinit {
        close(number)
    }

    /// Opens a path, absolute or relative to the process's current directory.
    ///
    /// - Parameters:
    ///   - flags: `O_…` bits; O_CLOEXEC is added.
    ///   - permissions: mode bits of a file that this call creates.
    /// - Throws: `FileError` with the system's reason.
    package static func open(
        _ path: FilePath, _ flags: CInt, permissions: UInt16 = 0
    ) throws(FileError) -> Descriptor {
        let number = retryingInterrupts {
            path.withPlatformString { clinux_openat(AT_FDCWD, $0, flags | O_CLOEXEC, UInt32(permissions)) }
        }
        if number < 0 { throw FileError("open", path, .current) }
        return Descriptor(owning: number)
    }

    /// Opens `name`, one component, in the directory `self`; never follows a symbolic link.
    ///
    /// - Parameter path: the name's path below the root, for the error.
    package borrowing func open(
        _ name: borrowing CName, _ flags: CInt, permissions: UInt16 = 0, path: @autoclosure () -> RelativePath
    ) throws(FileError) -> Descriptor {
        let directory = number
        let result = name.withPointer { pointer in
            retryingInterrupts {
                clinux_openat(directory, pointer, flags | O_CLOEXEC | O_NOFOLLOW, UInt32(permissions))
            }
        }
        if result < 0 { throw FileError("open", path(), .current) }
        return Descriptor(owning: result)
    }

    /// Opens `name` for reading, without changing its access time if the system allows that (open(2), O_NOATIME).
    package borrowing func openForReading(
        _ name: borrowing CName, _ flags: CInt = 0, path: @autoclosure () -> RelativePath
    ) throws(FileError) -> Descriptor {
        do {
            return try open(name, O_RDONLY | flags | CInt(CLINUX_O_NOATIME), path: path())
        } catch  where error.code == .notPermitted {
            return try open(name, O_RDONLY | flags, path: path())
        }
    }
}

// MARK: - Opening a path that must be a regular file; any other kind is rejected

extension Descriptor {
    /// Opens the regular file at `path`; a symbolic link to one is followed.
    ///
    /// Opening a FIFO normally waits for its other end, and opening a device may also block: this call never waits.
    ///
    /// - Throws: `FileError`; if the path is not a regular file, the error's operation names its kind.
    package static func openFile(
        _ path: FilePath, _ flags: CInt, permissions: UInt16 = 0
    ) throws(FileError) -> Descriptor {
        let file = try open(path, flags | O_NONBLOCK | O_NOCTTY, permissions: permissions)
        try requireFile(file, path)
        return file
    }

    /// Throws unless the open object is a regular file.
    static func requireFile(_ object: borrowing Descriptor, _ path: FilePath) throws(FileError) {
        let kind = try FileStatus.read(object).kind
        guard kind == .file else { throw FileError.useOf(kind, at: path) }
    }
}

// MARK: -

/// Repeats a system call that a signal interrupted.
package func retryingInterrupts<Number: SignedInteger>(_ call: () -> Number) -> Number {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}
