// The watcher's output: the ranges to scan, and the gaps in which changes may have been missed.

/// The parts of a root that may have changed since the previous batch.
///
/// A caller that scans all ranges after taking the batch sees every change made before it was taken.
package struct ChangeBatch: Sendable {
    /// The ranges to scan, in walk order; none is listed twice or inside another.
    package let ranges: [PathRange]
    /// The polled parts of `ranges`; each is a subtree that cannot be watched.
    ///
    /// A caller that scans them should report the result with `TreeWatch.polled(found:took:)`.
    package let polled: [PathRange]
    /// Names in `ranges` that were written to.
    package let written: WrittenNames
    /// The gaps that ended; the ranges cover every change made during them.
    package let gaps: [Gap]
    /// When the first change of the batch was noticed; nil if nothing changed.
    package let firstChange: ContinuousClock.Instant?
    /// The number of the last `flush` whose changes are in this batch or an earlier one.
    package let flushes: Int

    /// Whether there is nothing to scan.
    package var isEmpty: Bool { ranges.isEmpty }
}
