// Open files as owned values: closed exactly once, when their owner ends; and how they are opened.

internal import CLinux
internal import Glibc
package import SystemPackage

/// An open file descriptor, closed when the value ends.
package struct Descriptor: ~Copyable, Sendable {
    /// The descriptor's number, valid as long as this value lives.
    package let number: CInt

    /// Takes over an open descriptor.
    package init(owning number: CInt) {
        self.number = number
    }

    deinit {
        close(number)
    }

    /// Opens an absolute path or one relative to the process's current directory.
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

    /// Opens `name`, one component, in the directory `self`; a symbolic link there is never followed.
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

    /// Opens `name` for reading without touching its access time where the system allows that (open(2), O_NOATIME).
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

// MARK: - Opening a path at which there must be a file: whatever else stands there is refused at once

extension Descriptor {
    /// Opens the regular file at `path`; a symbolic link to one is followed.
    ///
    /// Opening a FIFO would wait for its other end, and opening a device may do anything: neither waits here.
    ///
    /// - Throws: `FileError`; its operation names the kind of what is there where that is no regular file.
    package static func openFile(
        _ path: FilePath, _ flags: CInt, permissions: UInt16 = 0
    ) throws(FileError) -> Descriptor {
        let file = try open(path, flags | O_NONBLOCK | O_NOCTTY, permissions: permissions)
        let kind = try FileStatus.read(file).kind
        guard kind == .file else { throw FileError("\(FileError.useOfOther)\(name(kind)) at", path, .notSupported) }
        return file
    }

    /// Refuses what `openFile` would refuse at `path`, without opening it.
    ///
    /// Closing any descriptor of a file ends all locks that the process has on it (fcntl(2)), also those of a library.
    package static func checkFile(at path: FilePath) throws(FileError) {
        var status = stat()
        guard path.withPlatformString({ stat($0, &status) }) == 0 else { throw FileError("open", path, .current) }
        guard let kind = FileKind(mode: status.st_mode) else { return }
        guard kind == .file else { throw FileError("\(FileError.useOfOther)\(name(kind)) at", path, .notSupported) }
        guard path.withPlatformString({ access($0, R_OK) }) == 0 else { throw FileError("open", path, .current) }
    }

    private static func name(_ kind: FileKind) -> String {
        switch kind {
        case .file: "file"
        case .directory: "directory"
        case .symbolicLink: "symbolic link"
        case .fifo: "FIFO"
        case .socket: "socket"
        case .characterDevice, .blockDevice: "device"
        }
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
