// What inotify and fanotify have in common.

internal import FileIO

/// A watched directory: the same inode keeps its number as long as it is watched, wherever it is moved.
///
/// inotify's are its watch descriptors, which are positive; fanotify's are negative.
struct WatchID: Hashable {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    static let none = WatchID(0)

    var backend: WatchBackend { number < 0 ? .fanotify : .inotify }
}

/// What is to be heard of a directory.
enum WatchInterest {
    /// Everything in it, and itself.
    case contents
    /// Whether it is renamed or deleted.
    case place

    var mask: EventMask { self == .contents ? .contents : .place }
}

/// A queue of events of directories, used by one thread.
protocol EventSource: AnyObject {
    var backend: WatchBackend { get }

    /// The descriptor that is readable while events wait.
    var number: CInt { get }

    /// Watches an open directory; one that is watched keeps its number, and `interest` is added to what is heard of it.
    ///
    /// - Throws: `FileError`: ENOSPC where the user's watches are used up, EACCES without read permission; other codes
    ///   where the file system cannot be watched.
    func add(_ directory: borrowing Descriptor, path: RelativePath, _ interest: WatchInterest) throws(FileError)
        -> WatchID

    /// Gives watches up; `removeRetired` tells the kernel.
    func retire(_ watches: [WatchID])

    /// Removes what was retired and is not in use (again).
    ///
    /// - Returns: false where the kernel could only be told to remove all: everything must be added again.
    func removeRetired(unless isUsed: (WatchID) -> Bool) -> Bool

    /// Whether events of `watch` may still come although it was given up.
    func isRetired(_ watch: WatchID) -> Bool

    /// Forgets a watch that has ended: nothing more comes from it.
    func forget(_ watch: WatchID)

    /// How much waits in the queue, in a unit of the source's own (FIONREAD).
    var backlog: Int { get }

    /// Reads what fits the buffer without waiting.
    ///
    /// - Returns: how much was read, in the unit of `backlog`; 0 where the queue is empty.
    func read(_ body: (DirectoryEvent) -> Void) -> Int
}
