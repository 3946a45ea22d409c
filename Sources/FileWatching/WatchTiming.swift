// When a batch is due: after a quiet moment, or when waiting would take too long.

/// How long changes are gathered before they become a batch.
package struct WatchTiming: Hashable, Sendable {
    /// How long the root must be quiet.
    package let settle: Duration
    /// How long after its first change a batch is due although the root is not quiet.
    package let maxDelay: Duration
    /// By how much all other intervals are shorter than usual.
    package let timeScale: Int

    package init(settle: Duration = .milliseconds(100), maxDelay: Duration = .seconds(2), timeScale: Int = 1) {
        self.settle = settle
        self.maxDelay = maxDelay
        self.timeScale = max(1, timeScale)
    }
}

/// The instants of one batch's first and last change, and what follows from them.
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

    /// When the batch is due if nothing more changes; nil where nothing changed.
    package var deadline: ContinuousClock.Instant? {
        guard let latest, let lastChange else { return nil }
        return min(lastChange + timing.settle, latest)
    }

    /// When the batch is due whatever happens; nil where nothing changed.
    var latest: ContinuousClock.Instant? {
        firstChange.map { $0 + timing.maxDelay }
    }

    /// Forgets the changes: their batch was taken.
    package mutating func reset() {
        firstChange = nil
        lastChange = nil
    }
}
