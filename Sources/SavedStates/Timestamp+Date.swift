// Times of the archive as Foundation's dates.

public import Archives
public import FileIO
public import Foundation

extension Timestamp {
    /// The time as a `Date`, accurate to a microsecond.
    public var date: Date {
        Date(timeIntervalSince1970: Double(seconds) + Double(nanoseconds) / 1_000_000_000)
    }

    /// The time of `date`; the first or last one that can be stored if `date` is beyond them.
    public init(_ date: Date) {
        let interval = date.timeIntervalSince1970
        let whole = interval.rounded(.down)
        guard let seconds = Int64(exactly: whole) else {
            self.init(seconds: interval < 0 ? .min : .max)
            return
        }
        self.init(seconds: seconds, nanoseconds: min(999_999_999, UInt32((interval - whole) * 1_000_000_000)))
    }
}

extension SnapshotSelector {
    /// Names the newest snapshot or state made at or before `date`.
    public init(_ date: Date) { self.init(time: Timestamp(date)) }
}
