// The steps through a timeline that a scroller of rows without times does not have.

public import FileIO

/// A step through a history.
public enum TimelineStep: Sendable, Hashable {
    /// To the previous moment.
    case earlier
    /// To the next moment.
    case later
    /// To the last moment before this day, or to the first one after it.
    case earlierDay
    /// To the first moment after this day.
    case laterDay
    /// To the first moment.
    case first
    /// To the last moment.
    case last
}

extension Scroller where Source: TimelineDataSource {
    private static var daySeconds: Int64 { 86_400 }

    /// Selects the last moment at or before `time`.
    ///
    /// - Throws: any error of the data source.
    public func select(at time: Timestamp) throws { select(try source.moment(at: time)) }

    /// Takes a step, and reports the moment, or that there is none, to the delegate.
    ///
    /// The first step leads to the last moment.
    ///
    /// - Throws: any error of the data source.
    public func take(_ step: TimelineStep) throws {
        guard let moment = position else {
            try scroll(.last)
            return
        }
        switch step {
        case .earlier: try previous()
        case .later: try next()
        case .first: try scroll(.first)
        case .last: try scroll(.last)
        case .earlierDay:
            let day = Self.day(of: moment.time)
            // Near the least number there is no start of the day.
            guard day > .min, day <= moment.time.seconds else {
                select(nil)
                return
            }
            let found = try source.moment(at: Timestamp(seconds: day - 1, nanoseconds: 999_999_999))
            select(found.flatMap { $0.time.seconds < day ? $0 : nil })
        case .laterDay:
            let (next, isOver) = Self.day(of: moment.time).addingReportingOverflow(Self.daySeconds)
            guard !isOver else {
                select(nil)
                return
            }
            let before = try source.moment(at: Timestamp(seconds: next - 1, nanoseconds: 999_999_999)) ?? moment
            try scroll(.after(before))
        }
    }

    /// Returns the start of a day in UTC, in seconds since 1970.
    private static func day(of time: Timestamp) -> Int64 { TimelineActivity.floor(time.seconds, daySeconds) }
}
