// The status of the watch on a root, as the watcher's thread reports it.

package import FileIO

/// The status of the watch on a root, after all events queued at the time of the request have been processed.
package struct TreeWatchStatus: Hashable, Sendable {
    package let phase: WatchPhase
    /// The open backends; empty if everything is polled.
    package let backends: [WatchBackend]
    package let stats: WatchStats
    /// The number of events of this root so far.
    package let eventCount: Int
    /// When the last event was read.
    package let lastEvent: Timestamp?
    /// The number of ranges that wait to be taken as a batch.
    package let dirtyRanges: Int
    /// The number of directories that are known to need a crawl.
    package let pendingCrawls: Int
    /// The open gaps with their start times.
    package let openGaps: [Gap.Cause: Timestamp]
    /// The current time between two polls; nil if nothing is polled.
    package let pollInterval: Duration?
}

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
