// A span of a history summed up in buckets, and instants in milliseconds as web pages use them.

public import ArchiveFormat
public import FileIO

/// The sums of the moments of a short span.
public struct TimelineBucket: Sendable, Hashable {
    /// When it begins.
    public let start: Timestamp
    /// The number of moments in it.
    public let moments: Int
    /// How many paths were added, modified and removed in it.
    public let changes: ChangeCounts
    /// The bytes that the archive grew by.
    public let storedBytes: UInt64

    /// A bucket that begins at `start`.
    public init(start: Timestamp, moments: Int, changes: ChangeCounts, storedBytes: UInt64) {
        (self.start, self.moments, self.changes, self.storedBytes) = (start, moments, changes, storedBytes)
    }
}

/// The buckets of a span.
public struct TimelineBuckets: Sendable, Hashable {
    /// The length of each bucket in milliseconds; the first one begins with the span.
    public let milliseconds: Int64
    /// The buckets that are not empty, in order.
    public let buckets: [TimelineBucket]

    /// Buckets of `milliseconds` each.
    public init(milliseconds: Int64, buckets: [TimelineBucket]) {
        (self.milliseconds, self.buckets) = (milliseconds, buckets)
    }
}

/// Sums up the moments of a span in buckets of equal length.
struct BucketSums {
    let milliseconds: Int64
    private let start: Int64
    private let limit: Int64
    private var sums: [Int64: TimelineActivity.Sums] = [:]

    /// Instants in milliseconds whose differences do not overflow.
    private static let range = -(Int64.max / 2)...Int64.max / 2

    /// Empty sums of a span.
    ///
    /// - Parameter limit: the most buckets.
    init(from start: Timestamp, to end: Timestamp, limit: Int) {
        self.start = BucketSums.milliseconds(start)
        self.limit = Int64(max(limit, 1))
        let whole = max(1, BucketSums.milliseconds(end) - self.start)
        milliseconds = whole / self.limit + (whole % self.limit == 0 ? 0 : 1)
    }

    /// Adds sums.
    ///
    /// - Parameter time: in the span, or in the same minute as its beginning.
    mutating func add(_ time: Timestamp, _ more: TimelineActivity.Sums) {
        let index = (max(start, BucketSums.milliseconds(time)) - start) / milliseconds
        sums[min(index, limit - 1), default: .init()].add(more)
    }

    private static func milliseconds(_ time: Timestamp) -> Int64 {
        min(max(time.milliseconds, range.lowerBound), range.upperBound)
    }

    var buckets: TimelineBuckets {
        let buckets = sums.sorted { $0.key < $1.key }.map { index, sums in
            TimelineBucket(
                start: Timestamp(milliseconds: start + index * milliseconds), moments: sums.moments,
                changes: sums.changes,
                storedBytes: sums.storedBytes)
        }
        return TimelineBuckets(milliseconds: milliseconds, buckets: buckets)
    }
}

extension Timestamp {
    /// The instant so many milliseconds after the start of 1970.
    package init(milliseconds: Int64) {
        let (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        let nanoseconds = UInt32(rest < 0 ? rest + 1000 : rest) * 1_000_000
        self.init(seconds: rest < 0 ? whole - 1 : whole, nanoseconds: nanoseconds)
    }

    /// Milliseconds since 1970.
    package var milliseconds: Int64 {
        let (product, isOver) = seconds.multipliedReportingOverflow(by: 1000)
        if isOver { return seconds < 0 ? .min : .max }
        return product.addingReportingOverflow(Int64(nanoseconds / 1_000_000)).partialValue
    }
}
