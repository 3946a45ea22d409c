// Gaps: spans of time in which changes may have been missed, open or ended.

package import FileIO

/// A span of time in which changes may have been missed.
package struct Gap: Hashable, Sendable {
    /// Why changes could not be followed.
    package enum Cause: String, Sendable, CaseIterable {
        /// The kernel's event queue was full.
        case overflow
        /// The root was renamed, deleted, replaced, covered or unmounted.
        case rootUnavailable
        /// Some directories could not be watched and were polled.
        case polling
        /// The machine was suspended.
        case suspend
    }

    package let cause: Cause
    /// The last time at which every change was known.
    package let start: Timestamp
    /// The time from which every change is reported again.
    package let end: Timestamp

    package init(cause: Cause, start: Timestamp, end: Timestamp) {
        self.cause = cause
        self.start = start
        self.end = end
    }
}

/// The gaps of one root; at most one of each cause is open at a time.
struct GapLog {
    /// The start of each open gap.
    private(set) var open: [Gap.Cause: Timestamp] = [:]
    /// Gaps that ended since the last `take`.
    private(set) var ended: [Gap] = []

    /// Opens a gap; does nothing if one with that cause is open.
    mutating func begin(_ cause: Gap.Cause, at start: Timestamp) {
        if open[cause] == nil { open[cause] = start }
    }

    /// Ends a gap.
    ///
    /// - Returns: the gap; nil if none with that cause was open.
    mutating func end(_ cause: Gap.Cause, at end: Timestamp) -> Gap? {
        guard let start = open.removeValue(forKey: cause) else { return nil }
        // The wall clock may have been set back during the gap.
        let gap = Gap(cause: cause, start: min(start, end), end: end)
        ended.append(gap)
        return gap
    }

    /// Returns the gaps that ended since the last call.
    mutating func take() -> [Gap] {
        defer { ended = [] }
        return ended
    }
}
