// A point in time as the file system and the archive store it.

internal import CLinux
internal import Glibc

/// A point in time: whole seconds since 1970-01-01T00:00:00Z and nanoseconds within that second.
public struct Timestamp: Hashable, Sendable, Comparable {
    /// Whole seconds since the epoch, negative before it.
    public var seconds: Int64
    /// Nanoseconds after `seconds`, 0 ..< 1,000,000,000.
    public var nanoseconds: UInt32

    /// A point in time from seconds since the epoch and the nanoseconds after them.
    public init(seconds: Int64, nanoseconds: UInt32 = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// The wall clock's time (CLOCK_REALTIME).
    public static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(seconds: Int64(time.tv_sec), nanoseconds: UInt32(time.tv_nsec))
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }

    /// This time moved by `nanoseconds`, which may be negative.
    ///
    /// A time whose `seconds` are beyond half of `Int64`'s range is returned unchanged.
    public func advanced(byNanoseconds nanoseconds: Int64) -> Timestamp {
        let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        var sum = Int64(self.nanoseconds) + rest
        guard self.seconds > .min / 2, self.seconds < .max / 2 else { return self }
        var seconds = self.seconds + whole
        if sum < 0 {
            sum += 1_000_000_000
            seconds -= 1
        } else if sum >= 1_000_000_000 {
            sum -= 1_000_000_000
            seconds += 1
        }
        return Timestamp(seconds: seconds, nanoseconds: UInt32(sum))
    }
}
