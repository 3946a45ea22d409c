// How the watching of a root stands, as its thread answers.

package import FileIO

/// The state of a root's watching, after everything that the kernel had told when it was asked for was taken in.
package struct TreeWatchStatus: Hashable, Sendable {
    package let phase: WatchPhase
    /// The backends that are open; none where everything is polled.
    package let backends: [WatchBackend]
    package let stats: WatchStats
    /// Events of this root so far.
    package let eventCount: Int
    /// When the last one was read.
    package let lastEvent: Timestamp?
    /// Ranges that wait to be taken as a batch.
    package let dirtyRanges: Int
    /// Directories that are known to need a crawl.
    package let pendingCrawls: Int
    /// The gaps that last, and since when.
    package let openGaps: [Gap.Cause: Timestamp]
    /// The present time between two polls; nil where nothing is polled.
    package let pollInterval: Duration?
}
