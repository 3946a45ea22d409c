// How far the watching of a root has come.

/// The phases of a root's watching.
package enum WatchPhase: String, Sendable, CaseIterable {
    /// The root is not there yet; it is waited for.
    case waiting
    /// The first crawl runs.
    case arming
    /// Every change is seen.
    case armed
    /// The root is gone from its path; the directory above is watched for its return.
    case unavailable
    /// The root is back and being crawled.
    case returning

    /// Whether there is no root to look at.
    var isAway: Bool { self == .waiting || self == .unavailable }
}
