// When directories that cannot be watched are looked at: often where that finds something, seldom where it costs much.

/// Instants whose distance follows what a look costs and what it yields.
struct PollSchedule {
    /// A look may take one part in so many of the time.
    static let costFactor = 20

    private let shortest: Duration
    private let longest: Duration
    private(set) var next: ContinuousClock.Instant?
    /// The time between two looks; never below what the last look's cost allows.
    private(set) var interval: Duration

    /// - Parameter timeScale: by how much the distances are shorter than usual.
    init(timeScale: Int = 1) {
        shortest = .seconds(1) / timeScale
        longest = .seconds(60) / timeScale
        interval = shortest
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

    /// A look begins; where nobody says how it went, the next follows at the same distance.
    mutating func begin(at now: ContinuousClock.Instant) {
        next = now + interval
    }

    /// Records how the last look went.
    ///
    /// - Parameters:
    ///   - found: whether it found a change: then the next comes sooner, otherwise later.
    ///   - took: how long it took.
    mutating func finish(found: Bool, took: Duration, at now: ContinuousClock.Instant) {
        let affordable = min(max(took * PollSchedule.costFactor, shortest), longest)
        let wanted = found ? interval / 2 : interval * 2
        interval = min(max(wanted, affordable), longest)
        if next != nil { next = now + interval }
    }
}
