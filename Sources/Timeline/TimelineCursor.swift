// A cursor: the chosen moment of a history, and the steps from it.

public import FileIO

/// Moves through the moments of a data source, and reports the chosen one to a delegate.
///
/// Not safe to use from several threads.
public final class TimelineCursor<Source: TimelineDataSource> {
    /// A step through the history.
    public enum Step: Sendable {
        case earlier
        case later
        /// To the last moment before this day, or to the first one after it.
        case earlierDay
        case laterDay
        case first
        case last
    }

    /// The history.
    public let source: Source
    /// The chosen moment; nil before the first step.
    public private(set) var moment: Source.Moment?
    /// Receives the choices.
    public weak var delegate: (any TimelineDelegate<Source.Moment>)?

    private static var daySeconds: Int64 { 86_400 }

    /// A cursor without a chosen moment.
    public init(_ source: Source) { self.source = source }

    /// Chooses the last moment at or before `time`.
    public func select(at time: Timestamp) throws { choose(try source.moment(at: time)) }

    /// Takes a step, and reports the moment, or that there is none, to the delegate.
    public func take(_ step: Step) throws {
        guard let moment else { return choose(try last()) }
        switch step {
        case .earlier: choose(try source.moments(.before(moment), limit: 1).last)
        case .later: choose(try source.moments(.after(moment), limit: 1).first)
        case .first: choose(try source.span().flatMap { try source.moment(at: $0.first) })
        case .last: choose(try last())
        case .earlierDay:
            let day = Self.day(of: moment.time)
            // Near the least number there is no start of the day.
            guard day > .min, day <= moment.time.seconds else { return choose(nil) }
            let found = try source.moment(at: Timestamp(seconds: day - 1, nanoseconds: 999_999_999))
            choose(found.flatMap { $0.time.seconds < day ? $0 : nil })
        case .laterDay:
            let (next, isOver) = Self.day(of: moment.time).addingReportingOverflow(Self.daySeconds)
            guard !isOver else { return choose(nil) }
            let before = try source.moment(at: Timestamp(seconds: next - 1, nanoseconds: 999_999_999)) ?? moment
            choose(try source.moments(.after(before), limit: 1).first)
        }
    }

    private func last() throws -> Source.Moment? { try source.moments(.end, limit: 1).last }

    private func choose(_ found: Source.Moment?) {
        guard let found else {
            delegate?.timelineDidReachEnd()
            return
        }
        moment = found
        delegate?.timelineDidSelect(found)
    }

    /// Returns the start of a day in UTC, in seconds since 1970.
    private static func day(of time: Timestamp) -> Int64 { TimelineActivity.floor(time.seconds, daySeconds) }
}
