// One event of a watched directory, in the same form for both backends.

internal import CLinux

/// The kind of an event as inotify's bits; fanotify's have the same values.
struct EventMask: OptionSet, Hashable {
    let rawValue: UInt32

    static let modify = EventMask(rawValue: UInt32(IN_MODIFY))
    static let attributes = EventMask(rawValue: UInt32(IN_ATTRIB))
    static let closeWrite = EventMask(rawValue: UInt32(IN_CLOSE_WRITE))
    static let movedFrom = EventMask(rawValue: UInt32(IN_MOVED_FROM))
    static let movedTo = EventMask(rawValue: UInt32(IN_MOVED_TO))
    static let create = EventMask(rawValue: UInt32(IN_CREATE))
    static let delete = EventMask(rawValue: UInt32(IN_DELETE))
    static let deleteSelf = EventMask(rawValue: UInt32(IN_DELETE_SELF))
    static let moveSelf = EventMask(rawValue: UInt32(IN_MOVE_SELF))
    static let unmount = EventMask(rawValue: 0x0000_2000)
    static let overflow = EventMask(rawValue: 0x0000_4000)
    /// The watch has ended and reports no more events.
    static let ignored = EventMask(rawValue: 0x0000_8000)
    static let isDirectory = EventMask(rawValue: 0x4000_0000)

    /// A name was added to the directory.
    static let appears: EventMask = [.create, .movedTo]
    /// A name was removed from the directory.
    static let disappears: EventMask = [.delete, .movedFrom]

    /// The events requested for every watched directory.
    ///
    /// The mask is always the same, so that a second add on an inode changes nothing. MODIFY reports writers that never
    /// close the file; CLOSE_WRITE is the only event of a writer through a memory map. OPEN and ACCESS are not
    /// requested, because our own reads would cause events.
    static let contents: EventMask = [
        .create, .delete, .movedFrom, .movedTo, .modify, .closeWrite, .attributes, .deleteSelf, .moveSelf,
    ]
    /// The events requested for a directory above a root, whose contents must not cause events.
    static let place: EventMask = [.deleteSelf, .moveSelf]
}

/// One event.
///
/// A backend that merges events may set both `appears` and `disappears`. Then it is not known which came last.
struct DirectoryEvent: Hashable {
    /// The directory's watch; `WatchID.none` if the event concerns no single directory, or one without a watch.
    let watch: WatchID
    let mask: EventMask
    /// The name in the watched directory; empty if the event is about the directory itself.
    let name: [UInt8]

    init(watch: WatchID, mask: EventMask, name: [UInt8] = []) {
        self.watch = watch
        self.mask = mask
        self.name = name
    }
}
