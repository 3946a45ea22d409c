// What the watcher publishes: where to look, and since when something may have been seen late.

/// The parts of a root that may have changed since the previous batch.
///
/// Whoever looks at all ranges after taking the batch has seen everything that changed before it was taken.
package struct ChangeBatch: Sendable {
    /// In walk order; nothing is listed twice or inside another range.
    package let ranges: [PathRange]
    /// The parts that are in `ranges` because they were polled, each a subtree that cannot be watched.
    ///
    /// Whoever looks at them should say how it went: `TreeWatch.polled(found:took:)`.
    package let polled: [PathRange]
    /// Names in `ranges` that something was written to.
    package let written: WrittenNames
    /// Spans in which changes were not seen as they happened; the ranges cover what they left behind.
    package let gaps: [Gap]
    /// When the first change of the batch was noticed; nil where nothing changed.
    package let firstChange: ContinuousClock.Instant?
    /// The number of the last `flush` whose changes are in this batch or in one before it.
    package let flushes: Int

    /// Whether there is nothing to look at.
    package var isEmpty: Bool { ranges.isEmpty }
}
