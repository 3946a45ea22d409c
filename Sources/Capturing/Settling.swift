// How long a file's time does not tell whether the file changed once more.

internal import FileIO

/// When a further change of an inode is sure to show in its time of change.
enum Settling {
    /// The clock that the kernel stamps inodes with ticks every 1 to 10 ms.
    private static let clockTick: Int64 = 20_000_000
    // FAT keeps even seconds; ext3, HFS+ and what is served from them keep seconds. Their times have no nanoseconds.
    private static let coarseTick: Int64 = 2_000_000_000 + clockTick

    /// Whether a change at `now` or later leaves another time than `changed`.
    static func isSettled(_ changed: Timestamp, at now: Timestamp = .now) -> Bool {
        changed < now.advanced(byNanoseconds: -tick(of: changed))
    }

    /// Nanoseconds until that is so; never more than the coarsest clock makes necessary.
    static func wait(for changed: Timestamp, at now: Timestamp = .now) -> Int64 {
        if isSettled(changed, at: now) { return 0 }
        let tick = tick(of: changed)
        let end = changed.advanced(byNanoseconds: tick)
        // Not so for times to come, which no waiting settles.
        guard end <= now.advanced(byNanoseconds: tick) else { return tick }
        let wait = (end.seconds - now.seconds) * 1_000_000_000 + Int64(end.nanoseconds) - Int64(now.nanoseconds)
        return min(max(wait, 0) + 1, tick)
    }

    private static func tick(of changed: Timestamp) -> Int64 { changed.nanoseconds == 0 ? coarseTick : clockTick }
}
