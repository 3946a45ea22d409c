// When an archive that is watched is maintained.

internal import Keeping

/// Decides when maintenance is due: every hour, and when space runs short, but not again and again in vain.
struct UpkeepSchedule {
    /// How near an archive is to its budget.
    enum Shortage: Int, Comparable {
        case none, near, reached

        init(_ room: ArchiveRoom) { self = room.isShort ? .reached : room.isAlmostShort ? .near : .none }

        static func < (left: Shortage, right: Shortage) -> Bool { left.rawValue < right.rawValue }
    }

    private let timeScale: Int
    private var due: ContinuousClock.Instant
    private var last = Shortage.none
    /// After a run that could not help, the archive may grow to so much before the next one.
    private var mostBytes = UInt64.max

    /// How often maintenance runs, and how long after the start it first does.
    static let interval = Duration.seconds(3600)
    static let firstPause = Duration.seconds(300)

    /// - Parameter timeScale: how many times faster than real time its times pass.
    init(from start: ContinuousClock.Instant, timeScale: Int = 1) {
        self.timeScale = timeScale
        due = start + UpkeepSchedule.firstPause / timeScale
    }

    /// Whether maintenance is to run now; each answer takes note of the shortage.
    mutating func isDue(at now: ContinuousClock.Instant, _ shortage: Shortage, usedBytes: UInt64) -> Bool {
        defer { last = shortage }
        return now >= due || shortage > last || shortage == .reached && usedBytes > mostBytes
    }

    /// Takes note of a run, of what the archive used before it, and of what it left.
    mutating func ran(at now: ContinuousClock.Instant, usedBytes: UInt64, leaving shortage: Shortage) {
        due = now + UpkeepSchedule.interval / timeScale
        last = shortage
        mostBytes = usedBytes + usedBytes / 2
    }
}
