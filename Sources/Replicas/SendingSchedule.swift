// When to send to a replica: soon after a commit, rarely enough for a day's requests, and later after failures.

/// Decides when the next pass begins.
///
/// A pass begins a second after the last commit, at the latest ten seconds after the first that it sends, and immediately
/// if much is waiting. In the long run there is one pass in sixteen seconds, as stores count requests: a few passes may
/// follow each other more quickly, and are made up for later.
package struct SendingSchedule: Sendable {
    package typealias Instant = ContinuousClock.Instant

    private let scale: Int
    private var first: Instant?
    private var last: Instant?
    private var waitingBytes: UInt64 = 0
    /// Passes that may begin without waiting, and when that was counted.
    private var credit = SendingSchedule.mostCredit
    private var counted: Instant?
    private var failures = 0
    private var retry: Instant?

    private static let quiet = Duration.seconds(1)
    private static let mostDelay = Duration.seconds(10)
    private static let muchBytes: UInt64 = 1 << 20
    private static let mostCredit = 20.0
    private static let secondsPerPass = 16.0
    private static let firstRetry = Duration.seconds(1)
    private static let lastRetry = Duration.seconds(300)

    /// - Parameter scale: the factor by which tests shorten every interval.
    package init(scale: Int = 1) { self.scale = max(1, scale) }

    /// Whether the last pass failed.
    package var isFailing: Bool { failures > 0 }

    /// Notes that bytes were committed.
    package mutating func committed(_ bytes: UInt64, at now: Instant) {
        first = first ?? now
        last = now
        waitingBytes += bytes
    }

    /// When the next pass begins; nil if nothing waits.
    package func due(at now: Instant) -> Instant? {
        if let retry { return retry }
        guard let first, let last else { return nil }
        var due = min(last + SendingSchedule.quiet / scale, first + SendingSchedule.mostDelay / scale)
        if waitingBytes >= SendingSchedule.muchBytes { due = now }
        let lacking = 1 - credit(at: now)
        guard lacking > 0, waitingBytes < SendingSchedule.muchBytes else { return due }
        return max(due, now + .seconds(lacking * SendingSchedule.secondsPerPass) / scale)
    }

    private func credit(at now: Instant) -> Double {
        guard let counted else { return credit }
        let seconds = counted.duration(to: now) / .seconds(1) * Double(scale)
        return min(SendingSchedule.mostCredit, credit + max(0, seconds) / SendingSchedule.secondsPerPass)
    }

    /// Notes that a pass begins: what was committed before is sent by it.
    package mutating func begun(at now: Instant) {
        (first, last, waitingBytes) = (nil, nil, 0)
        credit = max(0, credit(at: now) - 1)
        counted = now
    }

    package mutating func succeeded() { (failures, retry) = (0, nil) }

    /// Notes that a pass failed: the next one begins after a pause that doubles each time.
    package mutating func failed(at now: Instant) {
        failures += 1
        let pause = min(SendingSchedule.lastRetry, SendingSchedule.firstRetry * (1 << min(failures - 1, 20)))
        retry = now + pause / scale
    }
}
