// One event as fanotify(7) delivers it to a group with FAN_REPORT_DFID_NAME, and the file handles in it.

internal import CLinux
internal import FileIO

/// An identity unique among existing files: file system id, handle length, handle type and handle bytes.
struct FileHandle: Hashable {
    private let bytes: [UInt8]

    init(_ bytes: some Collection<UInt8>) { self.bytes = Array(bytes) }

    /// The identity of an open file.
    ///
    /// - Throws: `FileError`: EOPNOTSUPP if the file system does not support handles (name_to_handle_at(2)).
    init(of file: borrowing Descriptor, path: RelativePath = .root) throws(FileError) {
        var bytes = [UInt8](repeating: 0, count: Int(CLINUX_MAX_IDENTITY))
        let length = clinux_fanotify_identity(file.number, &bytes)
        if length < 0 { throw FileError("watch", path, .current) }
        bytes.removeLast(bytes.count - Int(length))
        self.bytes = bytes
    }
}

/// One event.
struct FanotifyEvent: Hashable {
    let mask: EventMask
    /// The directory of the event; nil for an overflow.
    let directory: FileHandle?
    /// The name in the directory; empty if the event is about the directory itself.
    let name: [UInt8]

    /// The size in bytes of `struct fanotify_event_metadata`.
    static let headerBytes = 24

    /// Byte offsets in `struct fanotify_event_metadata`.
    private enum Offset {
        static let length = 0
        static let headerLength = 6
        static let mask = 8
    }

    /// Byte offsets in `struct fanotify_event_info_fid`.
    private enum InfoOffset {
        static let type = 0
        static let length = 2
        static let identity = 4
        static let handleLength = 12
        static let handle = 20
    }

    /// Kinds of information records: a directory with a name in it, and a directory.
    private enum InfoType {
        static let directoryAndName: UInt8 = 2
        static let directory: UInt8 = 3
    }

    /// Decodes the events of one read, in order.
    static func decode(_ bytes: UnsafeRawBufferPointer, _ body: (FanotifyEvent) -> Void) {
        var start = 0
        while start + headerBytes <= bytes.count {
            let length = Int(bytes.loadUnaligned(fromByteOffset: start + Offset.length, as: UInt32.self))
            if length < headerBytes || start + length > bytes.count { return }
            body(FanotifyEvent(UnsafeRawBufferPointer(rebasing: bytes[start..<(start + length)])))
            start += length
        }
    }

    init(mask: EventMask, directory: FileHandle?, name: [UInt8]) {
        self.mask = mask
        self.directory = directory
        self.name = name
    }

    private init(_ bytes: UnsafeRawBufferPointer) {
        let mask = bytes.loadUnaligned(fromByteOffset: Offset.mask, as: UInt64.self)
        var directory: FileHandle?
        var name = [UInt8]()
        var start = Int(bytes.loadUnaligned(fromByteOffset: Offset.headerLength, as: UInt16.self))
        while directory == nil, start + InfoOffset.handle <= bytes.count {
            let length = Int(bytes.loadUnaligned(fromByteOffset: start + InfoOffset.length, as: UInt16.self))
            if length < InfoOffset.handle || start + length > bytes.count { break }
            let info = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + length)])
            let handleLength = Int(info.loadUnaligned(fromByteOffset: InfoOffset.handleLength, as: UInt32.self))
            let end = InfoOffset.handle + handleLength
            let type = info[InfoOffset.type]
            if end <= length, type == InfoType.directoryAndName || type == InfoType.directory {
                directory = FileHandle(info[InfoOffset.identity..<end])
                if type == InfoType.directoryAndName { name = Array(info[end...].prefix { $0 != 0 }) }
            }
            start += length
        }
        // "." means the directory itself.
        self.init(
            mask: EventMask(rawValue: UInt32(truncatingIfNeeded: mask)), directory: directory,
            name: name == [UInt8(ascii: ".")] ? [] : name)
    }
}
