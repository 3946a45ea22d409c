// Detects that the machine was suspended, without periodic wake-ups.

internal import CLinux
internal import FileIO
internal import SystemPackage

/// Reports how long the machine was suspended since the last report.
///
/// Its descriptor becomes readable when the machine wakes up, and also when the wall clock is set
/// (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET).
final class SuspendDetector {
    /// Spans up to this one are not reported: they may come from reading two clocks in sequence, or do not matter.
    static let shortest = Duration.seconds(1)

    private let alarm: Descriptor
    private let suspendedTime: @Sendable () -> Duration
    private var known: Duration

    init(hooks: WatcherHooks) {
        // If a sandbox forbids the alarm, a suspend is noticed at the next event.
        alarm = Descriptor(owning: clinux_clock_alarm())
        suspendedTime = hooks.suspendedTime
        known = hooks.suspendedTime()
    }

    /// The descriptor; if the alarm could not be created, -1, which poll(2) ignores.
    var number: CInt { alarm.number }

    /// Resets the descriptor, so that it is not readable until the next wake-up.
    func acknowledge() {
        _ = clinux_clock_alarm_reset(number)
    }

    /// Returns how long the machine was suspended since the last report; nil if not longer than `shortest`.
    func takeSuspend() -> Duration? {
        let total = suspendedTime()
        let growth = total - known
        guard growth > SuspendDetector.shortest else { return nil }
        known = total
        return growth
    }
}
