// The kinds of file-system objects.

/// The kind of a file-system object.
///
/// Raw values are part of the archive format.
public enum FileKind: UInt8, Sendable, Hashable, CaseIterable {
    /// A regular file.
    case file = 0
    /// A directory.
    case directory = 1
    /// A symbolic link.
    case symbolicLink = 2
    /// A FIFO, or named pipe.
    case fifo = 3
    /// A socket.
    case socket = 4
    /// A character device.
    case characterDevice = 5
    /// A block device.
    case blockDevice = 6

    /// The kind in the type bits of `st_mode` (inode(7)).
    package init?(mode: UInt32) {
        switch mode & 0o170000 {
        case 0o100000: self = .file
        case 0o040000: self = .directory
        case 0o120000: self = .symbolicLink
        case 0o010000: self = .fifo
        case 0o140000: self = .socket
        case 0o020000: self = .characterDevice
        case 0o060000: self = .blockDevice
        default: return nil
        }
    }

    /// The type bits of `st_mode` for this kind.
    package var modeBits: UInt32 {
        switch self {
        case .file: 0o100000
        case .directory: 0o040000
        case .symbolicLink: 0o120000
        case .fifo: 0o010000
        case .socket: 0o140000
        case .characterDevice: 0o020000
        case .blockDevice: 0o060000
        }
    }

    /// The kind in a directory record's `d_type` (getdents64(2)); nil if the file system does not report it.
    package init?(directoryRecordType type: UInt8) {
        self.init(mode: UInt32(type) << 12)
    }

    /// The word for the kind in JSON, on the page and in a pipe.
    package var word: String {
        switch self {
        case .file: "file"
        case .directory: "directory"
        case .symbolicLink: "symlink"
        case .fifo: "fifo"
        case .socket: "socket"
        case .characterDevice: "character-device"
        case .blockDevice: "block-device"
        }
    }
}
