// When to poll directories that cannot be watched, and for a root that is away: often if polling finds changes, seldom
// if it is expensive.

/// Poll times at intervals that depend on the cost and the result of the last poll.
struct PollSchedule {
    /// The interval is at least this many times as long as the last poll took, up to the longest interval.
    static let costFactor = 20

    private let shortest: Duration
    private let longest: Duration
    private(set) var next: ContinuousClock.Instant?
    /// The time between two polls; it grows with the time that the last poll took (`costFactor`).
    private(set) var interval: Duration

    /// - Parameters:
    ///   - shortest: the first interval, in seconds.
    ///   - longest: the longest interval, in seconds.
    ///   - timeScale: the factor by which the intervals are shortened.
    init(from shortest: Int, to longest: Int, timeScale: Int = 1) {
        self.shortest = .seconds(shortest) / timeScale
        self.longest = .seconds(longest) / timeScale
        interval = self.shortest
    }

    func isDue(at now: ContinuousClock.Instant) -> Bool {
        next.map { now >= $0 } ?? false
    }

    mutating func start(at now: ContinuousClock.Instant) {
        interval = shortest
        next = now + interval
    }

    mutating func stop() {
        next = nil
    }

    /// Starts a poll and schedules the next one after the same interval, in case its result is not reported.
    mutating func begin(at now: ContinuousClock.Instant) {
        next = now + interval
    }

    /// Records the result of the last poll.
    ///
    /// - Parameters:
    ///   - found: whether the poll found a change, which makes the interval shorter; otherwise it becomes longer.
    ///   - took: how long the poll took.
    mutating func finish(found: Bool, took: Duration, at now: ContinuousClock.Instant) {
        let affordable = min(max(took * PollSchedule.costFactor, shortest), longest)
        let wanted = found ? interval / 2 : interval * 2
        interval = min(max(wanted, affordable), longest)
        if next != nil { next = now + interval }
    }
}
