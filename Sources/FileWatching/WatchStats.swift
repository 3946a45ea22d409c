// How much of a root is watched, and how.

/// What the watching of a root amounts to.
package struct WatchStats: Hashable, Sendable {
    /// Directories with an inotify watch.
    package internal(set) var inotifyDirectories = 0
    /// Directories with a fanotify mark.
    package internal(set) var fanotifyDirectories = 0
    /// Directories that are looked at, with all that is below them, at intervals.
    package internal(set) var polledDirectories = 0
    package internal(set) var unreadableDirectories = 0
    /// Directories that carry another mount and are not entered.
    package internal(set) var mountPoints = 0
    /// Directories that are left out, each with all that is below it.
    package internal(set) var excludedDirectories = 0

    /// Directories whose changes are told as they happen.
    package var watchedDirectories: Int { inotifyDirectories + fanotifyDirectories }
}
