// Moving through a history that is not an archive.

import FileIO
import TestTraits
import Testing

@testable import Timeline

/// A history of numbered moments, seven hours apart.
private struct Numbers: TimelineDataSource {
    struct Moment: TimelineMoment, Equatable {
        let id: Int
        var time: Timestamp { Timestamp(seconds: Int64(id) * 7 * 3600) }
    }

    let all: [Moment]

    func span() throws -> TimelineSpan? {
        guard let first = all.first, let last = all.last else { return nil }
        return TimelineSpan(first: first.time, last: last.time, count: all.count)
    }

    func buckets(from start: Timestamp, to end: Timestamp, limit: Int) throws -> TimelineBuckets {
        TimelineBuckets(milliseconds: 1, buckets: [])
    }

    func moment(at time: Timestamp) throws -> Moment? { all.last { $0.time <= time } ?? all.first }

    func moments(_ place: TimelinePlace<Moment>, limit: Int) throws -> [Moment] {
        switch place {
        case .end: all.suffix(limit)
        case .before(let moment): all.filter { $0.id < moment.id }.suffix(limit)
        case .after(let moment): Array(all.filter { $0.id > moment.id }.prefix(limit))
        }
    }
}

private final class Listener: TimelineDelegate {
    var selected: [Int] = []
    var ends = 0

    func timelineDidSelect(_ moment: Numbers.Moment) { selected.append(moment.id) }
    func timelineDidReachEnd() { ends += 1 }
}

@Suite(.blocking) struct TimelineCursorTests {
    @Test("the first and the last day that a number of 64 bits can name have no other day beside them")
    func endsOfTime() throws {
        let ends = [Int.min / (7 * 3600), 0, Int.max / (7 * 3600)].map { Numbers.Moment(id: $0) }
        let cursor = TimelineCursor(Numbers(all: ends))
        let listener = Listener()
        cursor.delegate = listener
        for step in [.last, .laterDay, .first, .earlierDay] as [TimelineCursor<Numbers>.Step] { try cursor.take(step) }
        #expect(listener.selected == [ends[2].id, ends[0].id] && listener.ends == 2)
    }

    @Test("steps lead to neighbours, other days and the ends, and the delegate receives each")
    func steps() throws {
        let cursor = TimelineCursor(Numbers(all: (0..<10).map { Numbers.Moment(id: $0) }))
        let listener = Listener()
        cursor.delegate = listener
        // 0: day 0 at 0 h, 1: 7 h, 2: 14 h, 3: 21 h, 4: day 1 at 4 h … 9: day 2 at 15 h.
        for step in [
            .later, .earlier, .earlierDay, .earlierDay, .earlierDay, .first, .earlier, .laterDay, .last, .later,
        ]
            as [TimelineCursor<Numbers>.Step]
        { try cursor.take(step) }
        #expect(listener.selected == [9, 8, 6, 3, 0, 4, 9])
        #expect(listener.ends == 3)
        try cursor.select(at: Timestamp(seconds: 8 * 3600))
        #expect(cursor.moment?.id == 1)
    }

    @Test("a history without moments has nothing to choose")
    func empty() throws {
        let cursor = TimelineCursor(Numbers(all: []))
        let listener = Listener()
        cursor.delegate = listener
        for step in [.first, .last, .earlier, .laterDay] as [TimelineCursor<Numbers>.Step] { try cursor.take(step) }
        #expect(cursor.moment == nil && listener.ends == 4 && listener.selected.isEmpty)
    }
}
