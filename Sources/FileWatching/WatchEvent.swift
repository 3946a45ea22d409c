// Events of the watcher itself, for logs and status; file changes are reported as batches, not as events.

/// An event in the life of a root's watch.
package enum WatchEvent: Hashable, Sendable {
    /// From now on every change is reported.
    case armed(WatchStats)
    /// Changes may have been missed when they happened; the next batch covers them.
    case gap(Gap)
    /// Part of the root cannot be watched by the preferred backend; sent once per cause.
    case fallback(Fallback)
    /// The watches were compared with the file system; differences were repaired and are in the next batch.
    case audited(WatchAudit)
    /// The root is no longer at its path; nothing is reported until it returns.
    case rootUnavailable
    /// The root is back and watched; the next batch covers all of it.
    case rootBack(WatchStats)
}

/// Why directories are watched by another backend than the preferred one, or polled.
package enum Fallback: Hashable, Sendable {
    /// One of the user's limits is reached; directories beyond it are watched by fanotify or polled (see the stats).
    ///
    /// `needed` is the number of directories to watch; it is a lower bound, because directories below polled ones are
    /// not counted. `limit` is nil if the kernel does not report it.
    case limit(KernelLimit, needed: Int, limit: Int?)
    /// The root's file system does not report changes made by other machines.
    case remoteFileSystem
    /// The root's file system accepts watches but reports nothing, like some overlay mounts; or the check was not
    /// permitted.
    case silentFileSystem

    /// The cause without its figures, for reporting each cause once.
    enum Kind: Hashable { case limit(KernelLimit), remoteFileSystem, silentFileSystem }

    var kind: Kind {
        switch self {
        case .limit(let limit, _, _): .limit(limit)
        case .remoteFileSystem: .remoteFileSystem
        case .silentFileSystem: .silentFileSystem
        }
    }
}
