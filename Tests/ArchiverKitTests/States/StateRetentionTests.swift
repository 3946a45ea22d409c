// A caretaker with a retention forgets old states as it saves new ones.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Foundation
import Mementos
import TestTraits
import Testing

@testable import ArchiverKit
@testable import SavedStates

@Suite("Retention of caretakers", .blocking)
struct StateRetentionTests {
    private final class Counter: Originator {
        var number = 0
        func captureState() -> Int { number }
        func restore(_ state: Int) { number = state }
    }

    @Test("a caretaker keeps the latest ten states, up to a tenth more, and all that are pinned or labelled")
    func latest() async throws {
        let sandbox = try Sandbox()
        let caretaker = Caretaker(of: Counter(), titled: "title", in: sandbox.archive, keeping: .latest(10))
        for number in 0..<40 {
            caretaker.originator.number = number
            let saved = try await caretaker.save(label: number == 3 ? "labelled" : nil)
            if number == 5, let state = try sandbox.archive.states(StateQuery(title: "title")).last {
                #expect(state.id.chunk == saved.id)
                try sandbox.archive.pin(.state(state))
            }
        }
        var numbers: [Int] = []
        for memento in try await caretaker.history() { numbers.append(try await caretaker.state(of: memento)) }
        #expect(numbers.suffix(10) == Array(30..<40))
        #expect(numbers.prefix(2) == [3, 5] && numbers.count <= 13, "\(numbers)")
        #expect(try sandbox.archive.forgotten().count == 40 - numbers.count)
        let other = Caretaker(of: Counter(), titled: "other", in: sandbox.archive)
        for number in 0..<40 {
            other.originator.number = number
            try await other.save()
        }
        #expect(try await other.history().count == 40)
    }

    @Test("a caretaker with tiers keeps the first state of each day")
    func tiers() throws {
        let sandbox = try Sandbox()
        for number in 0..<10 { try sandbox.archive.save(number, as: "title") }
        let policy = try RetentionPolicy(all: .seconds(3600), daily: .forever)
        let states = try sandbox.archive.states(StateQuery(title: "title"))
        let first = try #require(states.first), last = try #require(states.last)
        let archive = sandbox.archive
        try archive.forgetStates(of: "title", keeping: .tiers(policy), after: first.time, saved: last.time)
        #expect(try archive.history(of: "title").count == 10)
        let later = Timestamp(seconds: last.time.seconds + 40 * 86_400)
        try archive.forgetStates(of: "title", keeping: .tiers(policy), after: last.time, saved: later)
        let left = try archive.history(of: "title").map(\.id)
        #expect(left.first == first.id.chunk && left.last == last.id.chunk && left.count <= 3)
    }
}
