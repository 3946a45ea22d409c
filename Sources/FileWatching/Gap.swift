// Spans of time in which changes may be seen late: those that last, and those that are over.

package import FileIO

/// A span of time in which changes may have been seen late.
package struct Gap: Hashable, Sendable {
    /// Why changes could not be followed.
    package enum Cause: String, Sendable, CaseIterable {
        /// The kernel's event queue was full.
        case overflow
        /// The root was renamed, deleted, replaced, covered or unmounted.
        case rootUnavailable
        /// Some directories could not be watched and were looked at at intervals.
        case polling
        /// The machine was suspended.
        case suspend
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

/// The gaps of one root: at most one of each cause lasts at a time.
struct GapLog {
    /// When each gap that lasts began.
    private(set) var open: [Gap.Cause: Timestamp] = [:]
    /// Gaps that ended since the last `take`.
    private(set) var ended: [Gap] = []

    /// A gap begins; where one of that cause lasts already, nothing changes.
    mutating func begin(_ cause: Gap.Cause, at start: Timestamp) {
        if open[cause] == nil { open[cause] = start }
    }

    /// A gap ends.
    ///
    /// - Returns: the gap; nil where none of that cause lasted.
    mutating func end(_ cause: Gap.Cause, at end: Timestamp) -> Gap? {
        guard let start = open.removeValue(forKey: cause) else { return nil }
        // The wall clock may have been set back meanwhile.
        let gap = Gap(cause: cause, start: min(start, end), end: end)
        ended.append(gap)
        return gap
    }

    /// The gaps that ended since the last time.
    mutating func take() -> [Gap] {
        defer { ended = [] }
        return ended
    }
}
