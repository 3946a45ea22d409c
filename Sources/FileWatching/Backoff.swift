// How often to look for a root that is not there, although its return is watched for.

/// Instants with growing distances.
struct Backoff {
    static let first = Duration.seconds(2)
    static let longest = Duration.seconds(32)

    private(set) var next: ContinuousClock.Instant?
    private var interval = Backoff.first

    func isDue(at now: ContinuousClock.Instant) -> Bool {
        next.map { now >= $0 } ?? false
    }

    mutating func start(from now: ContinuousClock.Instant) {
        interval = Backoff.first
        next = now + interval
    }

    /// Sets the next instant, twice as far away as the last.
    mutating func advance(from now: ContinuousClock.Instant) {
        interval = min(interval * 2, Backoff.longest)
        next = now + interval
    }

    mutating func stop() {
        next = nil
    }
}
