// Noticing that the machine slept, without waking up to look.

internal import CLinux
internal import FileIO
internal import SystemPackage

/// Tells how long the machine was suspended since the last time somebody asked.
///
/// Its descriptor becomes readable when the machine wakes up, and also when somebody sets the wall clock
/// (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET).
final class SuspendDetector {
    /// Shorter spans are the distance between two readings of clocks, or not worth a word.
    static let shortest = Duration.seconds(1)

    private let alarm: Descriptor
    private let suspendedTime: @Sendable () -> Duration
    private var known: Duration

    init(hooks: WatcherHooks) {
        // Where a sandbox forbids it, a suspend is noticed with the next event.
        alarm = Descriptor(owning: clinux_clock_alarm())
        suspendedTime = hooks.suspendedTime
        known = hooks.suspendedTime()
    }

    /// The descriptor; -1 where there is none, which poll(2) passes over.
    var number: CInt { alarm.number }

    /// Makes the descriptor unreadable until the next time.
    func acknowledge() {
        _ = clinux_clock_alarm_reset(number)
    }

    /// How long the machine slept since the last call; nil where it did not.
    func takeSuspend() -> Duration? {
        let total = suspendedTime()
        let growth = total - known
        guard growth > SuspendDetector.shortest else { return nil }
        known = total
        return growth
    }
}
