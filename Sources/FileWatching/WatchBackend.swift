// How changes are heard of.

/// The kernel interface that a watcher uses.
package enum WatchBackend: String, Sendable, CaseIterable {
    /// inotify, fanotify for what inotify's limits leave over, and polling for what both leave over.
    case auto
    /// inotify(7), and polling for what its limits leave over.
    case inotify
    /// fanotify(7) with one mark a directory (Linux 5.13), and polling for what its limits leave over.
    case fanotify
    /// No events: each root is looked at as a whole, at intervals.
    case poll
}
