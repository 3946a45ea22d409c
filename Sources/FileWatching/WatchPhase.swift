// The phases of a root's watch.

/// The phase of a root's watch.
package enum WatchPhase: String, Sendable, CaseIterable {
    /// The root does not exist yet; the watcher waits for it.
    case waiting
    /// The first crawl is running.
    case arming
    /// Every change is reported.
    case armed
    /// The root is no longer at its path; the directory above is watched for its return.
    case unavailable
    /// The root is back and is being crawled.
    case returning

    /// Whether the root is missing.
    var isAway: Bool { self == .waiting || self == .unavailable }
}
