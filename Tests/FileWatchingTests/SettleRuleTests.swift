// When a batch is due, tested with tables of times.

import TestTraits
import Testing

@testable import FileWatching

@Suite(.blocking) struct SettleRuleTests {
    struct Case: CustomTestStringConvertible {
        let name: String
        /// The times of the changes in milliseconds.
        let changes: [Int]
        let deadline: Int?

        var testDescription: String { name }
    }

    @Test(
        "the deadline follows from the first and the last change",
        arguments: [
            Case(name: "nothing changed", changes: [], deadline: nil),
            Case(name: "one change settles", changes: [10], deadline: 110),
            Case(name: "each change restarts the quiet period", changes: [10, 60, 150], deadline: 250),
            Case(
                name: "the maximum delay applies to a constant writer",
                changes: Array(stride(from: 0, through: 1_990, by: 10)),
                deadline: 2_000),
            Case(name: "exactly at the maximum delay", changes: [0, 1_900], deadline: 2_000),
        ])
    func deadlines(_ example: Case) {
        let start = ContinuousClock.now
        var rule = SettleRule(timing: WatchTiming(settle: .milliseconds(100), maxDelay: .seconds(2)))
        for change in example.changes { rule.recordChange(at: start + .milliseconds(change)) }
        #expect(rule.deadline == example.deadline.map { start + .milliseconds($0) })
        #expect(rule.firstChange == example.changes.first.map { start + .milliseconds($0) })
        rule.reset()
        #expect(rule.deadline == nil && rule.latest == nil && rule.firstChange == nil)
    }
}
