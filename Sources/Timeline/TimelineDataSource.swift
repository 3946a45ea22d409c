// The protocols between a history and a view of it.

public import FileIO

/// A moment of a history: one of its states.
public protocol TimelineMoment: Sendable, Identifiable {
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
/// The page of `archiver browse`, the list of `archiver pick` and a program's own view depend on it. Calls may block on
/// disk reads: make them on a thread that may block.
public protocol TimelineDataSource<Moment>: Sendable {
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

/// Receives the choices made in a timeline.
public protocol TimelineDelegate<Moment>: AnyObject {
    associatedtype Moment: TimelineMoment

    /// A moment was chosen.
    func timelineDidSelect(_ moment: Moment)

    /// There is no moment in that direction.
    func timelineDidReachEnd()
}
