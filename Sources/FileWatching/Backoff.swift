// When to check again for a missing root, in case no event reports its return.

/// Retry times with growing intervals.
struct Backoff {
    private let first: Duration
    private let longest: Duration
    private(set) var next: ContinuousClock.Instant?
    private var interval: Duration

    /// - Parameter timeScale: the factor by which the intervals are shortened.
    init(timeScale: Int = 1) {
        first = .seconds(2) / timeScale
        longest = .seconds(32) / timeScale
        interval = first
    }

    func isDue(at now: ContinuousClock.Instant) -> Bool {
        next.map { now >= $0 } ?? false
    }

    mutating func start(from now: ContinuousClock.Instant) {
        interval = first
        next = now + interval
    }

    /// Schedules the next retry after twice the last interval.
    mutating func advance(from now: ContinuousClock.Instant) {
        interval = min(interval * 2, longest)
        next = now + interval
    }

    mutating func stop() {
        next = nil
    }
}
