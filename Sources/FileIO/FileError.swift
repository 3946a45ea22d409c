// The error of a failed file operation: the operation, the path, the system's reason and the remedy.

internal import Glibc
public import SystemPackage

/// A system call on a file failed.
public struct FileError: Error, Sendable, Hashable {
    /// The failed operation as a verb: "open", "read", "rename".
    public let operation: String
    /// The path as the caller gave it.
    public let path: FilePath
    /// The system's reason.
    public let code: Errno

    /// An error of `operation` on `path`.
    public init(_ operation: String, _ path: FilePath, _ code: Errno) {
        self.operation = operation
        self.path = path
        self.code = code
    }

    /// An error of `operation` on `path` below a root; a literal is a path of the system.
    @_disfavoredOverload
    package init(_ operation: String, _ path: RelativePath, _ code: Errno) {
        self.init(operation, FilePath(path), code)
    }

    /// The same error with its relative path appended to `root`.
    package func below(_ root: FilePath) -> FileError {
        path.isAbsolute ? self : FileError(operation, root.pushing(path), code)
    }

    /// What the user can do about it; nil if the reason is clear enough.
    public var remedy: String? {
        switch code {
        case .permissionDenied, .notPermitted: "run as a user who may \(operation) it, or change its permissions"
        case .noSpace: "free some space on that file system and try again"
        case .diskQuotaExceeded: "free some of your disk quota and try again"
        case .readOnlyFileSystem: "mount the file system writable, or use another place"
        case .tooManyOpenFiles: "raise the limit on open files (ulimit -n)"
        case .noSuchFileOrDirectory: "check the spelling"
        case .notDirectory: "give a directory"
        case .notSupported where operation.hasPrefix(FileError.useOfOther): "move it away"
        default: nil
        }
    }

    /// How the operation begins if the path must be a regular file and is not.
    private static let useOfOther = "use the "

    /// The error for an object at a path that must be a regular file.
    static func useOf(_ kind: FileKind, at path: FilePath) -> FileError {
        let name =
            switch kind {
            case .file: "file"
            case .directory: "directory"
            case .symbolicLink: "symbolic link"
            case .fifo: "FIFO"
            case .socket: "socket"
            case .characterDevice, .blockDevice: "device"
            }
        return FileError("\(useOfOther)\(name) at", path, .notSupported)
    }
}

extension FileError: CustomStringConvertible {
    /// "cannot open /etc/shadow: Permission denied".
    public var description: String { "cannot \(operation) \(path.string): \(code.description)" }
}

extension FilePath {
    /// A system path made from a relative path; the root is ".".
    package init(_ path: RelativePath) {
        self = path.isRoot ? FilePath(".") : CName(path.bytes).withPointer { FilePath(platformString: $0) }
    }

    /// The path's bytes as the kernel expects them, without the terminator.
    package var bytes: [UInt8] {
        withPlatformString { UnsafeBufferPointer(start: $0, count: strlen($0)).map { UInt8(bitPattern: $0) } }
    }

    /// A path made from the kernel's bytes, which hold no NUL.
    package init(bytes: some Collection<UInt8>) {
        self = CName(bytes).withPointer { FilePath(platformString: $0) }
    }
}

extension Errno {
    /// The calling thread's errno; read it directly after a failed call.
    package static var current: Errno { Errno(rawValue: errno) }
}
