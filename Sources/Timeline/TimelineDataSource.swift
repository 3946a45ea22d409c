// What a view of a history asks, and what it tells.

public import FileIO

/// A moment of a history: a state that there was.
public protocol TimelineMoment: Sendable, Identifiable {
    var time: Timestamp { get }
}

/// What a whole history covers.
public struct TimelineSpan: Sendable, Hashable {
    /// The times of its first and its last moment.
    public let first: Timestamp
    public let last: Timestamp
    /// How many moments there are.
    public let count: Int

    public init(first: Timestamp, last: Timestamp, count: Int) {
        (self.first, self.last, self.count) = (first, last, count)
    }
}

/// Where moments are listed from.
public enum TimelinePlace<Moment: Sendable>: Sendable {
    /// Those right before a moment.
    case before(Moment)
    /// Those right after a moment.
    case after(Moment)
    /// The last ones.
    case end
}

/// A history, as a view of it needs it: what is asked for costs what is shown, however long the history is.
///
/// A page, a list in a terminal, and a program's own view stand on it. Calls may read from a disk: make them on a thread that
/// may wait.
public protocol TimelineDataSource<Moment>: Sendable {
    associatedtype Moment: TimelineMoment

    /// What the history covers; nil where it has no moment.
    func span() throws -> TimelineSpan?

    /// The moments from `start` up to `end`, summed up in at most `limit` buckets of equal length; those without one are
    /// left out.
    func buckets(from start: Timestamp, to end: Timestamp, limit: Int) throws -> TimelineBuckets

    /// The last moment at `time` or before; the first one where there is none.
    func moment(at time: Timestamp) throws -> Moment?

    /// At most `limit` moments at a place, the oldest first.
    func moments(_ place: TimelinePlace<Moment>, limit: Int) throws -> [Moment]
}

/// Hears what is chosen in a timeline.
public protocol TimelineDelegate<Moment>: AnyObject {
    associatedtype Moment: TimelineMoment

    /// A moment was chosen.
    func timelineDidSelect(_ moment: Moment)

    /// There is no moment in that direction.
    func timelineDidReachEnd()
}
