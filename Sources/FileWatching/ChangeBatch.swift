// What the watcher publishes: where to look, and since when something may have been seen late.

package import FileIO

/// The parts of a root that may have changed since the previous batch.
///
/// Whoever looks at all ranges after taking the batch has seen everything that changed before it was taken.
package struct ChangeBatch: Sendable {
    /// In walk order; nothing is listed twice or inside another range.
    package let ranges: [PathRange]
    /// Spans in which changes were not seen as they happened; the ranges cover what they left behind.
    package let gaps: [Gap]
    /// When the first change of the batch was noticed; nil where nothing changed.
    package let firstChange: ContinuousClock.Instant?
    /// The number of the last `flush` whose changes are in this batch or in one before it.
    package let flushes: Int

    /// Whether there is nothing to look at.
    package var isEmpty: Bool { ranges.isEmpty }
}

/// A span of time in which changes may have been seen late.
package struct Gap: Hashable, Sendable {
    /// Why changes could not be followed.
    package enum Cause: String, Sendable {
        /// The kernel's event queue was full.
        case overflow
        /// The root was renamed, deleted, replaced or unmounted.
        case rootUnavailable
    }

    package let cause: Cause
    /// The last moment at which everything had been seen.
    package let start: Timestamp
    /// The moment from which on every change is seen again.
    package let end: Timestamp

    package init(cause: Cause, start: Timestamp, end: Timestamp) {
        self.cause = cause
        self.start = start
        self.end = end
    }
}
