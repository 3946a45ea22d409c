// The ways in which changes are detected.

/// The kernel interface that a watcher uses.
public enum WatchBackend: String, Sendable, CaseIterable {
    /// inotify; fanotify for directories beyond inotify's limits; polling for directories beyond both limits.
    case auto
    /// inotify(7); polling for directories beyond its limits.
    case inotify
    /// fanotify(7) with one mark per directory (Linux 5.13); polling for directories beyond its limits.
    case fanotify
    /// No events: each root is polled completely.
    case poll
}
