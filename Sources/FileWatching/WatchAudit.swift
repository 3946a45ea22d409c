// The result of an audit, which compares the watches of a root with the file system.

/// The result of comparing the watches of a root with the file system.
package struct WatchAudit: Hashable, Sendable {
    /// The number of directories examined.
    package internal(set) var checkedDirectories = 0
    /// The number of directories that had no watch and now have one.
    package internal(set) var missingWatches = 0
    /// The number of known directories that no longer existed.
    package internal(set) var strayWatches = 0

    package init(checkedDirectories: Int = 0, missingWatches: Int = 0, strayWatches: Int = 0) {
        self.checkedDirectories = checkedDirectories
        self.missingWatches = missingWatches
        self.strayWatches = strayWatches
    }

    /// Whether the watches were correct.
    package var isClean: Bool { missingWatches == 0 && strayWatches == 0 }
}

/// A running audit: the directories still to be examined, and the callers that wait for the result.
struct AuditWork {
    struct Item {
        let crawl: CrawlItem
        /// How often a concurrent change interrupted the examination.
        var attempts = 0
    }

    var stack = [Item(crawl: .root(reports: true))]
    var outcome = WatchAudit()
    var callers: [CheckedContinuation<WatchAudit?, Never>]
}
