// When what cannot be watched is looked at, by tables of looks.

import TestTraits
import Testing

@testable import FileWatching

@Suite(.blocking) struct PollScheduleTests {
    struct Case: CustomTestStringConvertible {
        let name: String
        /// How each look went: whether it found something, and the milliseconds it took.
        let looks: [(found: Bool, took: Int)]
        /// The seconds to the next look after each.
        let intervals: [Double]

        var testDescription: String { name }
    }

    @Test(arguments: [
        Case(
            name: "nothing found: ever more seldom, but once a minute", looks: Array(repeating: (false, 1), count: 7),
            intervals: [2, 4, 8, 16, 32, 60, 60]),
        Case(
            name: "something found: twice as often, down to once a second",
            looks: Array(repeating: (false, 1), count: 3) + Array(repeating: (true, 1), count: 4),
            intervals: [2, 4, 8, 4, 2, 1, 1]),
        Case(name: "a look may take a twentieth of the time", looks: [(true, 300), (true, 300)], intervals: [6, 6]),
        Case(name: "however long a look takes, once a minute", looks: [(true, 9_000)], intervals: [60]),
        Case(
            name: "a look that became cheap is repeated sooner, step by step",
            looks: [(true, 400), (true, 50), (true, 50), (true, 50), (true, 50)], intervals: [8, 4, 2, 1, 1]),
    ])
    func intervalsFollowCostAndYield(_ example: Case) {
        var now = ContinuousClock.now
        var schedule = PollSchedule()
        schedule.start(at: now)
        #expect(schedule.next == now + .seconds(1))
        for (look, interval) in zip(example.looks, example.intervals) {
            now = schedule.next ?? now
            #expect(schedule.isDue(at: now) && !schedule.isDue(at: now - .nanoseconds(1)))
            schedule.begin(at: now)
            #expect(!schedule.isDue(at: now))
            now += .milliseconds(look.took)
            schedule.finish(found: look.found, took: .milliseconds(look.took), at: now)
            #expect(schedule.interval == .seconds(interval))
            #expect(schedule.next == now + .seconds(interval))
        }
        schedule.stop()
        schedule.finish(found: true, took: .zero, at: now)
        #expect(schedule.next == nil, "a late report does not begin it anew")
    }

    @Test func aLookThatNobodyReportsOnIsRepeated() {
        let now = ContinuousClock.now
        var schedule = PollSchedule()
        schedule.start(at: now)
        schedule.begin(at: now + .seconds(1))
        #expect(schedule.next == now + .seconds(2))
    }
}
