// The common interface of inotify and fanotify.

internal import FileIO

/// The identity of a watched directory; an inode keeps it as long as it is watched, even when it is moved.
///
/// inotify's numbers are its watch descriptors, which are positive; fanotify's are negative.
struct WatchID: Hashable {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    static let none = WatchID(0)

    var backend: WatchBackend { number < 0 ? .fanotify : .inotify }
}

/// The events to report for a directory.
enum WatchInterest {
    /// All changes of the directory and of the names in it.
    case contents
    /// Only renaming and deletion of the directory.
    case place

    var mask: EventMask { self == .contents ? .contents : .place }
}

/// A queue of directory events, used by one thread.
protocol EventSource: AnyObject {
    var backend: WatchBackend { get }

    /// The descriptor, which is readable while events are queued.
    var number: CInt { get }

    /// Watches an open directory; if it is watched already, keeps its number and adds `interest`.
    ///
    /// - Throws: `FileError`: ENOSPC if the user's limit on watches is reached, EACCES without read permission, other
    ///   codes if the file system cannot be watched.
    func add(_ directory: borrowing Descriptor, path: RelativePath, _ interest: WatchInterest) throws(FileError)
        -> WatchID

    /// Marks watches as no longer needed; `removeRetired` removes them from the kernel.
    func retire(_ watches: [WatchID])

    /// Removes the retired watches that are not in use again.
    ///
    /// - Returns: false if all watches had to be removed and those in use must be added again.
    func removeRetired(unless isUsed: (WatchID) -> Bool) -> Bool

    /// Whether `watch` is retired and may still report events.
    func isRetired(_ watch: WatchID) -> Bool

    /// Forgets a watch that has ended and reports no more events.
    func forget(_ watch: WatchID)

    /// The amount of queued events, in a unit specific to the source (FIONREAD).
    var backlog: Int { get }

    /// Reads as many events as fit into the buffer, without waiting.
    ///
    /// - Returns: the amount read, in the unit of `backlog`; 0 if the queue is empty.
    func read(_ body: (DirectoryEvent) -> Void) -> Int
}
