// Computes how long a further change of a file may leave its change time the same.

internal import FileIO

/// Decides whether a further change of an inode would show in its change time.
enum Settling {
    /// The kernel's clock for inode times ticks every 1 to 10 ms.
    private static let clockTick: Int64 = 20_000_000
    // FAT stores even seconds; ext3, HFS+ and servers on them store seconds. Their times have no nanoseconds.
    private static let coarseTick: Int64 = 2_000_000_000 + clockTick

    /// Whether a change at `now` or later would set a time other than `changed`.
    ///
    /// - Parameter isOurClock: whether this machine's clock sets the times. Then a time in the future, left by a clock
    ///   that was set back, is not set again; another machine's clock may be ahead.
    static func isSettled(_ changed: Timestamp, at now: Timestamp = .now, isOurClock: Bool) -> Bool {
        let tick = tick(of: changed)
        return changed < now.advanced(byNanoseconds: -tick)
            || isOurClock && changed > now.advanced(byNanoseconds: tick)
    }

    /// Nanoseconds until `changed` is settled; at most two ticks of the coarsest clock.
    ///
    /// A time further in the future does not settle by waiting.
    static func wait(for changed: Timestamp, at now: Timestamp = .now, isOurClock: Bool) -> Int64 {
        let tick = tick(of: changed)
        if isSettled(changed, at: now, isOurClock: isOurClock) || changed > now.advanced(byNanoseconds: tick) {
            return 0
        }
        let end = changed.advanced(byNanoseconds: tick)
        let wait = (end.seconds - now.seconds) * 1_000_000_000 + Int64(end.nanoseconds) - Int64(now.nanoseconds)
        return min(max(wait, 0) + 1, 2 * tick)
    }

    private static func tick(of changed: Timestamp) -> Int64 { changed.nanoseconds == 0 ? coarseTick : clockTick }
}
