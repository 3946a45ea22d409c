// One event of a watched directory, whichever backend it comes from.

internal import CLinux

/// What happened, in inotify's bits; fanotify's have the same values.
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
    /// The watch has ended: nothing more comes from it.
    static let ignored = EventMask(rawValue: 0x0000_8000)
    static let isDirectory = EventMask(rawValue: 0x4000_0000)

    /// A name came into the directory.
    static let appears: EventMask = [.create, .movedTo]
    /// A name went out of the directory.
    static let disappears: EventMask = [.delete, .movedFrom]

    /// What is asked for of every watched directory, always the same: a second add on an inode must change nothing.
    ///
    /// MODIFY sees writers that never close; CLOSE_WRITE is the only event of a writer through a memory map. No OPEN and
    /// no ACCESS, because our own reads would wake us.
    static let contents: EventMask = [
        .create, .delete, .movedFrom, .movedTo, .modify, .closeWrite, .attributes, .deleteSelf, .moveSelf,
    ]
    /// What is asked for of a directory above a root, whose contents are to cause no events.
    static let place: EventMask = [.deleteSelf, .moveSelf]
}

/// One event.
///
/// Whether something appeared and disappeared may both be set, by a backend that merges events: what came last is not
/// known then.
struct DirectoryEvent: Hashable {
    /// The directory it is about; `WatchID.none` where it is about no single one, or one without a watch.
    let watch: WatchID
    let mask: EventMask
    /// The name in the watched directory; empty where the event is about the directory itself.
    let name: [UInt8]

    init(watch: WatchID, mask: EventMask, name: [UInt8] = []) {
        self.watch = watch
        self.mask = mask
        self.name = name
    }
}
