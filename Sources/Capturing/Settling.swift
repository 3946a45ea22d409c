// Computes how long a further change of a file may leave its change time the same.

internal import FileIO

/// Decides whether a further change of an inode would show in its change time.
enum Settling {
    /// The kernel's clock for inode times ticks every 1 to 10 ms.
    private static let clockTick: Int64 = 20_000_000
    // FAT stores even seconds; ext3, HFS+ and servers on them store seconds. Their times have no nanoseconds.
    private static let coarseTick: Int64 = 2_000_000_000 + clockTick

    /// Whether a change at `now` or later would set a time other than `changed`.
    static func isSettled(_ changed: Timestamp, at now: Timestamp = .now) -> Bool {
        changed < now.advanced(byNanoseconds: -tick(of: changed))
    }

    /// Nanoseconds until `changed` is settled; at most one tick of the coarsest clock.
    static func wait(for changed: Timestamp, at now: Timestamp = .now) -> Int64 {
        if isSettled(changed, at: now) { return 0 }
        let tick = tick(of: changed)
        let end = changed.advanced(byNanoseconds: tick)
        // A time in the future does not settle by waiting.
        guard end <= now.advanced(byNanoseconds: tick) else { return tick }
        let wait = (end.seconds - now.seconds) * 1_000_000_000 + Int64(end.nanoseconds) - Int64(now.nanoseconds)
        return min(max(wait, 0) + 1, tick)
    }

    private static func tick(of changed: Timestamp) -> Int64 { changed.nanoseconds == 0 ? coarseTick : clockTick }
}
