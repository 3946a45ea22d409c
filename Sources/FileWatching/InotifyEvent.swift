// One event as inotify(7) delivers it.

internal import CLinux

/// The bits of an inotify event's mask.
struct InotifyMask: OptionSet, Hashable {
    let rawValue: UInt32

    static let modify = InotifyMask(rawValue: UInt32(IN_MODIFY))
    static let attributes = InotifyMask(rawValue: UInt32(IN_ATTRIB))
    static let closeWrite = InotifyMask(rawValue: UInt32(IN_CLOSE_WRITE))
    static let movedFrom = InotifyMask(rawValue: UInt32(IN_MOVED_FROM))
    static let movedTo = InotifyMask(rawValue: UInt32(IN_MOVED_TO))
    static let create = InotifyMask(rawValue: UInt32(IN_CREATE))
    static let delete = InotifyMask(rawValue: UInt32(IN_DELETE))
    static let deleteSelf = InotifyMask(rawValue: UInt32(IN_DELETE_SELF))
    static let moveSelf = InotifyMask(rawValue: UInt32(IN_MOVE_SELF))
    static let unmount = InotifyMask(rawValue: 0x0000_2000)
    static let overflow = InotifyMask(rawValue: 0x0000_4000)
    static let ignored = InotifyMask(rawValue: 0x0000_8000)
    static let onlyDirectory = InotifyMask(rawValue: 0x0100_0000)
    static let isDirectory = InotifyMask(rawValue: 0x4000_0000)

    /// A name came into the directory.
    static let appears: InotifyMask = [.create, .movedTo]
    /// A name went out of the directory.
    static let disappears: InotifyMask = [.delete, .movedFrom]

    /// What every watch asks for, always the same: a second add on an inode replaces the first's mask.
    ///
    /// MODIFY sees writers that never close; CLOSE_WRITE is the only event of a writer through a memory map. Without
    /// IN_EXCL_UNLINK, which would hide changes through an unlinked name, and without IN_MASK_CREATE, because the
    /// second add must return the known watch: that is how a moved directory is recognised.
    static let watched: InotifyMask = [
        .create, .delete, .movedFrom, .movedTo, .modify, .closeWrite, .attributes, .deleteSelf, .moveSelf,
        .onlyDirectory,
    ]
}

/// One event.
struct InotifyEvent: Hashable {
    /// The watch it came from; -1 for an overflow.
    let watch: Int32
    let mask: InotifyMask
    /// The name in the watched directory; empty where the event is about the directory itself.
    let name: [UInt8]

    /// Byte offsets in `struct inotify_event` (inotify(7)).
    private enum Offset {
        static let watch = 0
        static let mask = 4
        static let nameLength = 12
        static let name = 16
    }

    init(watch: Int32, mask: InotifyMask, name: [UInt8] = []) {
        self.watch = watch
        self.mask = mask
        self.name = name
    }

    /// Decodes the events of one read, in order.
    static func decode(_ bytes: UnsafeRawBufferPointer, _ body: (InotifyEvent) -> Void) {
        var start = 0
        while start + Offset.name <= bytes.count {
            let length = Int(bytes.loadUnaligned(fromByteOffset: start + Offset.nameLength, as: UInt32.self))
            let end = start + Offset.name + length
            if end > bytes.count { return }
            body(
                InotifyEvent(
                    watch: bytes.loadUnaligned(fromByteOffset: start + Offset.watch, as: Int32.self),
                    mask: InotifyMask(
                        rawValue: bytes.loadUnaligned(fromByteOffset: start + Offset.mask, as: UInt32.self)),
                    name: Array(bytes[(start + Offset.name)..<end].prefix { $0 != 0 })
                ))
            start = end
        }
    }
}
