// Opening a path at which there must be a file: whatever else stands there is refused at once.

internal import Glibc
package import SystemPackage

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
