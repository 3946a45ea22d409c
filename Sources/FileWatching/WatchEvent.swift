// What the watcher tells about itself, for logs and status; changes of files are batches, not events.

/// Something happened to the watching of a root.
package enum WatchEvent: Hashable, Sendable {
    /// From now on every change is seen.
    case armed(WatchStats)
    /// Changes were not seen as they happened; the next batch makes up for it.
    case gap(Gap)
    /// Part of the root cannot be watched as it should be. Told once a cause.
    case degraded(Degradation)
    /// The watching was compared with what is there; what was wrong is mended and in the next batch.
    case audited(WatchAudit)
    /// The root is gone from its path; nothing is reported until it is back.
    case rootUnavailable
    /// The root is back and watched; the next batch covers all of it.
    case rootBack(WatchStats)
}

/// Why directories are watched by another backend than the first, or polled.
package enum Degradation: Hashable, Sendable {
    /// One of the user's limits is reached; what it leaves over is watched by fanotify or polled, as the stats tell.
    ///
    /// `needed` directories are to be watched: a lower bound, as what lies below polled directories is not counted.
    /// `limit` is nil where the kernel does not tell.
    case limit(KernelLimit, needed: Int, limit: Int?)
    /// The root's file system does not report what other machines do.
    case remoteFileSystem
    /// The root's file system accepts watches and reports nothing, as some overlay mounts do; or it was not permitted to
    /// find out.
    case silentFileSystem

    /// The cause without its figures: what is told once.
    enum Kind: Hashable { case limit(KernelLimit), remoteFileSystem, silentFileSystem }

    var kind: Kind {
        switch self {
        case .limit(let limit, _, _): .limit(limit)
        case .remoteFileSystem: .remoteFileSystem
        case .silentFileSystem: .silentFileSystem
        }
    }
}
