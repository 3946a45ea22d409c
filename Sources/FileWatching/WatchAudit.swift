// What an audit of the watching found.

/// The outcome of comparing what the watcher knows of a root with what is there.
package struct WatchAudit: Hashable, Sendable {
    /// Directories that were looked at.
    package internal(set) var checkedDirectories = 0
    /// Directories that should have been watched, and are now.
    package internal(set) var missingWatches = 0
    /// Directories that were known and are not there.
    package internal(set) var strayWatches = 0

    package init(checkedDirectories: Int = 0, missingWatches: Int = 0, strayWatches: Int = 0) {
        self.checkedDirectories = checkedDirectories
        self.missingWatches = missingWatches
        self.strayWatches = strayWatches
    }

    /// Whether nothing was wrong.
    package var isClean: Bool { missingWatches == 0 && strayWatches == 0 }
}

/// An audit under way: directories still to be looked at, and who waits for the outcome.
struct AuditWork {
    struct Item {
        let crawl: CrawlItem
        /// How often changes came between.
        var attempts = 0
    }

    var stack = [Item(crawl: .root(reports: true))]
    var outcome = WatchAudit()
    var callers: [CheckedContinuation<WatchAudit?, Never>]
}
