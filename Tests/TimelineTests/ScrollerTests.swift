// Scrolling through a row of views, and through a history that is not an archive.

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

private final class Listener: ScrollerDelegate {
    var selected: [Int] = []
    var ends = 0

    func scroller(_ scroller: Scroller<Numbers>, didSelect moment: Numbers.Moment) { selected.append(moment.id) }
    func scrollerDidReachEnd(_ scroller: Scroller<Numbers>) { ends += 1 }
}

/// Letters, of which the delegate hears.
private final class Letters: ScrollerList, ScrollerDelegate {
    var letters: [String]
    var initialPosition: Int?
    var selected: [Int] = []
    var ends = 0
    var count: Int { letters.count }

    init(_ letters: [String], initial: Int? = nil) { (self.letters, initialPosition) = (letters, initial) }

    func view(at index: Int) -> String { letters[index] }
    func scroller(_ scroller: Scroller<Letters>, didSelect index: Int) { selected.append(index) }
    func scrollerDidReachEnd(_ scroller: Scroller<Letters>) { ends += 1 }
}

@Suite(.blocking) struct ScrollerTests {
    @Test("a row begins at its initial index, and the delegate hears of each selection and of the ends")
    func row() throws {
        let row = Letters(["a", "b", "c", "d"], initial: 2)
        let scroller = Scroller(row)
        scroller.delegate = row
        #expect(try scroller.position == nil && scroller.view() == nil)
        try scroller.reload()
        #expect(try scroller.view() == "c")
        #expect(try scroller.next() && !scroller.next() && scroller.previous())
        #expect(row.selected == [2, 3, 2] && row.ends == 1)
        #expect(try scroller.views(within: 1).map(\.view) == ["b", "c", "d"])
        #expect(try scroller.views(within: 9).map(\.position) == [0, 1, 2, 3])
        try scroller.scroll(.at(99))
        #expect(scroller.position == 3)
    }

    @Test("a reload keeps the selection while it exists, and the last one if the row is shorter")
    func reload() throws {
        let row = Letters(["a", "b", "c"])
        let scroller = Scroller(row)
        scroller.delegate = row
        try scroller.reload()
        try scroller.scroll(.last)
        row.letters.removeLast()
        try scroller.reload()
        #expect(try scroller.position == 1 && scroller.view() == "b")
        row.letters = []
        try scroller.reload()
        #expect(try scroller.position == nil && scroller.view() == nil && scroller.views(within: 2).isEmpty)
        #expect(row.ends > 0)
        row.letters = ["x"]
        #expect(try scroller.next() && scroller.view() == "x")
    }

    @Test("the first and the last day that a number of 64 bits can name have no other day beside them")
    func endsOfTime() throws {
        let ends = [Int.min / (7 * 3600), 0, Int.max / (7 * 3600)].map { Numbers.Moment(id: $0) }
        let cursor = Scroller(Numbers(all: ends))
        let listener = Listener()
        cursor.delegate = listener
        for step in [.last, .laterDay, .first, .earlierDay] as [TimelineStep] { try cursor.take(step) }
        #expect(listener.selected == [ends[2].id, ends[0].id] && listener.ends == 2)
    }

    @Test("steps lead to neighbours, other days and the ends, and the delegate receives each")
    func steps() throws {
        let cursor = Scroller(Numbers(all: (0..<10).map { Numbers.Moment(id: $0) }))
        let listener = Listener()
        cursor.delegate = listener
        // 0: day 0 at 0 h, 1: 7 h, 2: 14 h, 3: 21 h, 4: day 1 at 4 h … 9: day 2 at 15 h.
        for step in [
            .later, .earlier, .earlierDay, .earlierDay, .earlierDay, .first, .earlier, .laterDay, .last, .later,
        ]
            as [TimelineStep]
        { try cursor.take(step) }
        #expect(listener.selected == [9, 8, 6, 3, 0, 4, 9])
        #expect(listener.ends == 3)
        try cursor.select(at: Timestamp(seconds: 8 * 3600))
        #expect(cursor.position?.id == 1)
    }

    @Test("a history without moments has nothing to choose")
    func empty() throws {
        let cursor = Scroller(Numbers(all: []))
        let listener = Listener()
        cursor.delegate = listener
        for step in [.first, .last, .earlier, .laterDay] as [TimelineStep] { try cursor.take(step) }
        #expect(cursor.position == nil && listener.ends == 4 && listener.selected.isEmpty)
    }
}
