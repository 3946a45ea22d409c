// How often to look for a root that is not there, although its return is watched for.

/// Instants with growing distances.
struct Backoff {
    private let first: Duration
    private let longest: Duration
    private(set) var next: ContinuousClock.Instant?
    private var interval: Duration

    /// - Parameter timeScale: by how much the distances are shorter than usual.
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

    /// Sets the next instant, twice as far away as the last.
    mutating func advance(from now: ContinuousClock.Instant) {
        interval = min(interval * 2, longest)
        next = now + interval
    }

    mutating func stop() {
        next = nil
    }
}
