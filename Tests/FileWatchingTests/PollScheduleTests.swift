// The poll schedule, tested with tables of polls.

import TestTraits
import Testing

@testable import FileWatching

@Suite(.blocking) struct PollScheduleTests {
    struct Case: CustomTestStringConvertible {
        let name: String
        /// The result of each poll: whether it found a change, and the milliseconds it took.
        let polls: [(found: Bool, took: Int)]
        /// The seconds from each poll to the next.
        let intervals: [Double]

        var testDescription: String { name }
    }

    @Test(
        "poll intervals depend on the cost and the result of the polls",
        arguments: [
            Case(
                name: "nothing found: less often, down to once a minute", polls: Array(repeating: (false, 1), count: 7),
                intervals: [2, 4, 8, 16, 32, 60, 60]),
            Case(
                name: "something found: twice as often, up to once a second",
                polls: Array(repeating: (false, 1), count: 3) + Array(repeating: (true, 1), count: 4),
                intervals: [2, 4, 8, 4, 2, 1, 1]),
            Case(name: "polls take at most 5% of the time", polls: [(true, 300), (true, 300)], intervals: [6, 6]),
            Case(name: "at least once a minute, even if a poll takes long", polls: [(true, 9_000)], intervals: [60]),
            Case(
                name: "if polls become cheaper, the interval shrinks step by step",
                polls: [(true, 400), (true, 50), (true, 50), (true, 50), (true, 50)], intervals: [8, 4, 2, 1, 1]),
        ])
    func intervals(_ example: Case) {
        var now = ContinuousClock.now
        var schedule = PollSchedule(from: 1, to: 60)
        schedule.start(at: now)
        #expect(schedule.next == now + .seconds(1))
        for (poll, interval) in zip(example.polls, example.intervals) {
            now = schedule.next ?? now
            #expect(schedule.isDue(at: now) && !schedule.isDue(at: now - .nanoseconds(1)))
            schedule.begin(at: now)
            #expect(!schedule.isDue(at: now))
            now += .milliseconds(poll.took)
            schedule.finish(found: poll.found, took: .milliseconds(poll.took), at: now)
            #expect(schedule.interval == .seconds(interval))
            #expect(schedule.next == now + .seconds(interval))
        }
        schedule.stop()
        schedule.finish(found: true, took: .zero, at: now)
        #expect(schedule.next == nil, "a late report does not restart it")
    }

    @Test("a poll without a reported result is repeated")
    func unreported() {
        let now = ContinuousClock.now
        var schedule = PollSchedule(from: 1, to: 60)
        schedule.start(at: now)
        schedule.begin(at: now + .seconds(1))
        #expect(schedule.next == now + .seconds(2))
    }
}
