// What the watcher tells about itself, for logs and status; changes of files are batches, not events.

/// Something happened to the watching of a root.
package enum WatchEvent: Hashable, Sendable {
    /// From now on every change is seen.
    case armed(WatchStats)
    /// Changes were not seen as they happened; the next batch makes up for it.
    case gap(Gap)
    /// Part of the root is looked at at intervals because it cannot be watched. Told once a cause.
    case degraded(Degradation)
    /// The root is gone from its path; nothing is reported until it is back.
    case rootUnavailable
    /// The root is back and watched; the next batch covers all of it.
    case rootBack(WatchStats)
}

/// Why directories are polled.
package enum Degradation: Hashable, Sendable {
    /// The user's inotify watches are used up (`fs.inotify.max_user_watches`).
    ///
    /// `needed` is a lower bound: what lies below polled directories is not counted. `limit` is nil where unknown.
    case watchLimit(needed: Int, limit: Int?)
    /// The root's file system does not report what other machines do.
    case remoteFileSystem

    /// The cause without its figures: what is told once.
    enum Kind { case watches, remote }
}

/// What the watching of a root amounts to.
package struct WatchStats: Hashable, Sendable {
    package internal(set) var watchedDirectories = 0
    /// Directories that are looked at, with all that is below them, at intervals.
    package internal(set) var polledDirectories = 0
    package internal(set) var unreadableDirectories = 0
    /// Directories that carry another mount and are not entered.
    package internal(set) var mountPoints = 0
}
