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
