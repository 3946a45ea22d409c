// When a batch is due: after a quiet period, but no later than a maximum delay after its first change.

/// How long changes are collected before they become a batch.
package struct WatchTiming: Hashable, Sendable {
    /// How long the root must be quiet before a batch is due.
    package let settle: Duration
    /// How long after its first change a batch is due even if the root is not quiet.
    package let maxDelay: Duration
    /// The factor by which all other intervals are shortened.
    package let timeScale: Int

    package init(settle: Duration = .milliseconds(100), maxDelay: Duration = .seconds(2), timeScale: Int = 1) {
        self.settle = settle
        self.maxDelay = maxDelay
        self.timeScale = max(1, timeScale)
    }
}

/// Computes when a batch is due from the times of its first and last change.
package struct SettleRule {
    var timing: WatchTiming
    private(set) var firstChange: ContinuousClock.Instant?
    private var lastChange: ContinuousClock.Instant?

    package init(timing: WatchTiming) {
        self.timing = timing
    }

    package mutating func recordChange(at instant: ContinuousClock.Instant) {
        if firstChange == nil { firstChange = instant }
        lastChange = instant
    }

    /// When the batch is due if no further change comes; nil if nothing changed.
    package var deadline: ContinuousClock.Instant? {
        guard let latest, let lastChange else { return nil }
        return min(lastChange + timing.settle, latest)
    }

    /// When the batch is due at the latest; nil if nothing changed.
    var latest: ContinuousClock.Instant? {
        firstChange.map { $0 + timing.maxDelay }
    }

    /// Forgets the changes, because their batch was taken.
    package mutating func reset() {
        firstChange = nil
        lastChange = nil
    }
}
