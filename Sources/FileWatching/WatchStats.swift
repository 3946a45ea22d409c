// The number of a root's directories by the way they are watched.

/// The number of a root's directories in each state.
package struct WatchStats: Hashable, Sendable {
    /// Directories with an inotify watch.
    package internal(set) var inotifyDirectories = 0
    /// Directories with a fanotify mark.
    package internal(set) var fanotifyDirectories = 0
    /// Directories that are polled with everything below them.
    package internal(set) var polledDirectories = 0
    package internal(set) var unreadableDirectories = 0
    /// Directories on another mount, which are not entered.
    package internal(set) var mountPoints = 0
    /// Directories that are excluded with everything below them.
    package internal(set) var excludedDirectories = 0

    /// Directories whose changes are reported when they happen.
    package var watchedDirectories: Int { inotifyDirectories + fanotifyDirectories }
}
