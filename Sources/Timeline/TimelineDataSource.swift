// The protocol between a history and a view of it.

public import FileIO

/// A moment of a history: one of its states.
public protocol TimelineMoment: Sendable, Identifiable, Equatable {
    /// When it was.
    var time: Timestamp { get }
}

/// The extent of a history.
public struct TimelineSpan: Sendable, Hashable {
    /// The times of its first and last moment.
    public let first: Timestamp
    /// The time of the last moment.
    public let last: Timestamp
    /// How many moments there are.
    public let count: Int

    /// The extent of `count` moments.
    public init(first: Timestamp, last: Timestamp, count: Int) {
        (self.first, self.last, self.count) = (first, last, count)
    }
}

/// Where to list moments.
public enum TimelinePlace<Moment: Sendable>: Sendable {
    /// Those right before a moment.
    case before(Moment)
    /// Those right after a moment.
    case after(Moment)
    /// The last ones.
    case end
}

/// A history as a view of it needs it: a query should cost only what it returns, however long the history is.
///
/// The page of the browser, the list for choosing a version and a program's own view depend on it. Calls may block on
/// disk reads: make them on a thread that may block.
public protocol TimelineDataSource<Moment>: ScrollerDataSource, Sendable where Position == Moment, View == Moment {
    /// One of its states.
    associatedtype Moment: TimelineMoment

    /// Returns the extent of the history; nil if it has no moments.
    func span() throws -> TimelineSpan?

    /// Returns the moments from `start` up to `end`, summed up in at most `limit` buckets of equal length.
    ///
    /// Empty buckets are left out.
    func buckets(from start: Timestamp, to end: Timestamp, limit: Int) throws -> TimelineBuckets

    /// Returns the last moment at or before `time`; if there is none, the first one.
    func moment(at time: Timestamp) throws -> Moment?

    /// Returns at most `limit` moments at a place, the oldest first.
    func moments(_ place: TimelinePlace<Moment>, limit: Int) throws -> [Moment]
}

extension TimelineDataSource {
    /// The moment at a place; for a moment that is no longer there, the last one before it.
    public func position(_ place: ScrollerPlace<Moment>) throws -> Moment? {
        switch place {
        case .first: try span().flatMap { try moment(at: $0.first) }
        case .last: try moments(.end, limit: 1).last
        case .before(let moment): try moments(.before(moment), limit: 1).last
        case .after(let moment): try moments(.after(moment), limit: 1).first
        case .at(let moment): try self.moment(at: moment.time)
        }
    }

    /// The moment itself.
    public func view(at moment: Moment) -> Moment { moment }
}
