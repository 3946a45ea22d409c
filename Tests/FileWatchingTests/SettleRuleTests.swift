// When a batch is due, by tables of instants.

import TestTraits
import Testing

@testable import FileWatching

@Suite(.blocking) struct SettleRuleTests {
    struct Case: CustomTestStringConvertible {
        let name: String
        /// Milliseconds at which something changed.
        let changes: [Int]
        let deadline: Int?

        var testDescription: String { name }
    }

    @Test(arguments: [
        Case(name: "nothing changed", changes: [], deadline: nil),
        Case(name: "one change settles", changes: [10], deadline: 110),
        Case(name: "each change begins the quiet anew", changes: [10, 60, 150], deadline: 250),
        Case(
            name: "a writer that never stops is cut off", changes: Array(stride(from: 0, through: 1_990, by: 10)),
            deadline: 2_000),
        Case(name: "cut off exactly at the longest delay", changes: [0, 1_900], deadline: 2_000),
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
