// Where somebody stands in a history.

public import FileIO

/// Moves through the moments of a data source, and tells a delegate which one is chosen.
///
/// Not safe to use from several threads.
public final class TimelineCursor<Source: TimelineDataSource> {
    /// A step through the history.
    public enum Step: Sendable {
        case earlier
        case later
        /// To the last moment of the day before, or the first one of the next day on which there is one.
        case earlierDay
        case laterDay
        case first
        case last
    }

    public let source: Source
    /// The moment that is chosen; nil before the first step.
    public private(set) var moment: Source.Moment?
    public weak var delegate: (any TimelineDelegate<Source.Moment>)?

    private static var daySeconds: Int64 { 86_400 }

    public init(_ source: Source) { self.source = source }

    /// Chooses the last moment at `time` or before.
    public func select(at time: Timestamp) throws { choose(try source.moment(at: time)) }

    /// Takes a step; the delegate hears of the moment, or that there is none.
    public func take(_ step: Step) throws {
        guard let moment else { return choose(try last()) }
        switch step {
        case .earlier: choose(try source.moments(.before(moment), limit: 1).last)
        case .later: choose(try source.moments(.after(moment), limit: 1).first)
        case .first: choose(try source.span().flatMap { try source.moment(at: $0.first) })
        case .last: choose(try last())
        case .earlierDay:
            let day = Self.day(of: moment.time)
            let found = try source.moment(at: Timestamp(seconds: day - 1, nanoseconds: 999_999_999))
            choose(found.flatMap { $0.time.seconds < day ? $0 : nil })
        case .laterDay:
            let next = Self.day(of: moment.time) + Self.daySeconds
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

    /// The beginning of a day in UTC, in seconds.
    private static func day(of time: Timestamp) -> Int64 {
        let rest = time.seconds % daySeconds
        return time.seconds - (rest < 0 ? rest + daySeconds : rest)
    }
}
