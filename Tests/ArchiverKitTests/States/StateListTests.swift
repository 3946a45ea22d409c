// Lists of states, labels and pins given later, and states of no particular type.

import ArchiverKit
import Foundation
import Mementos
import TestTraits
import Testing

@Suite("Lists of states", .blocking)
struct StateListTests {
    private let sandbox: Sandbox
    private var archive: Archive { sandbox.archive }

    init() throws { sandbox = try Sandbox() }

    @Test("states are listed page by page, in either order and within times")
    func pages() throws {
        let all = try (1...10).map { try archive.save($0, as: "number") }
        try archive.save(0, as: "other")
        #expect(try archive.states(of: "number") == all)
        #expect(try archive.states(of: "number", newestFirst: true, limit: 3) == Array(all.reversed().prefix(3)))
        var (paged, last) = ([Memento](), Memento?.none)
        while true {
            let page = try archive.states(of: "number", limit: 4, after: last)
            paged += page
            last = page.last
            if page.count < 4 { break }
        }
        #expect(paged == all)
        #expect(try archive.states(of: "number", since: all[3].time, until: all[5].time) == Array(all[3...5]))
        #expect(try archive.states(of: "none").isEmpty)
    }

    @Test("a state is labelled, unlabelled, pinned and unpinned later; a pinned one is not forgotten")
    func labelsAndPins() throws {
        let first = try archive.save(1, as: "number")
        try archive.save(2, as: "number")
        try archive.label(first, as: "the first")
        #expect(try archive.load(Int.self, as: "number", at: "the first") == 1)
        #expect(try archive.states(of: "number", label: "the first").map(\.id) == [first.id])
        try archive.removeLabel(of: first)
        #expect(try archive.states(of: "number", label: "the first").isEmpty)
        try archive.pin(first, reason: "a record")
        #expect(throws: StateError.self) { try archive.forget(allOf: "number") }
        #expect(try archive.history(of: "number").count == 2)
        try archive.unpin(first)
        try archive.forget(allOf: "number")
        #expect(try archive.titles().isEmpty)
        #expect(throws: StateError.self) { try archive.pin(first) }
    }

    @Test("a renamed title has the same states, with their times, labels and pins, and the old one is free")
    func renaming() throws {
        let first = try archive.save(Game(level: 1, score: 0), as: "old", label: "start")
        let second = try archive.save(Game(level: 2, score: 5), as: "old")
        try archive.pin(first, reason: "a record")
        try archive.rename("old", to: "new")
        let states = try archive.history(of: "new")
        #expect(states.map(\.time) == [first.time, second.time] && states.map(\.label) == ["start", nil])
        #expect(try archive.load(Game.self, as: "new", at: "start") == Game(level: 1, score: 0))
        #expect(try archive.load(Game.self, as: "new") == Game(level: 2, score: 5))
        #expect(try archive.titles().map(\.title) == ["new"])
        #expect(throws: StateError.self) { try archive.forget(allOf: "new") }
        try archive.unpin(states[0])
        try archive.save(Game(), as: "old")
        #expect(try archive.history(of: "old").count == 1)
        #expect(try archive.check(data: true).findings.isEmpty)
    }

    @Test("a title is not renamed to one that has states, to one that cannot be a title, or if it has no states")
    func refusedRenaming() throws {
        try archive.save(1, as: "old")
        try archive.save(2, as: "new")
        func refusal(_ old: String, _ new: String) -> StateError? {
            do throws(StateError) { try archive.rename(old, to: new) } catch { return error }
            return nil
        }
        guard case .titleTaken("new")? = refusal("old", "new"), case .malformedTitle? = refusal("old", ""),
            case .noSuchState("none")? = refusal("none", "other")
        else { return #expect(Bool(false), "renamed") }
        try archive.rename("old", to: "old")
        #expect(try archive.titles().map(\.title) == ["new", "old"])
    }

    @Test("two states of any type are compared value by value")
    func comparison() throws {
        let first = try archive.save(Game(level: 1, score: 0), as: "game")
        let second = try archive.save(Game(level: 1, score: 9), as: "game")
        let differences = try archive.differences(from: first, to: second)
        #expect(differences.map(\.place) == ["score"])
        #expect(differences.first?.old?.integer == 0 && differences.first?.new?.integer == 9)
        #expect(try archive.differences(from: first, to: first).isEmpty)
    }

    @Test("a state is read as a value of no particular type")
    func values() throws {
        let memento = try archive.save(Game(level: 2, score: 9), as: "game")
        let value = try archive.value(of: memento)
        #expect(value["level"]?.integer == 2 && value["score"]?.integer == 9)
    }

    @Test("a state is loaded as of a date, and times become dates and times again")
    func dates() throws {
        let first = try archive.save(1, as: "number")
        let second = try archive.save(2, as: "number")
        #expect(try archive.load(Int.self, as: "number", at: SnapshotSelector(time: first.time)) == 1)
        #expect(try archive.load(Int.self, as: "number", at: SnapshotSelector(Date.distantFuture)) == 2)
        #expect(throws: StateError.self) {
            try archive.load(Int.self, as: "number", at: SnapshotSelector(Date.distantPast))
        }
        for time in [first.time, second.time, Timestamp(seconds: -2, nanoseconds: 750_000_000), Timestamp(seconds: 0)] {
            let back = Timestamp(time.date)
            #expect(abs(back.date.timeIntervalSince(time.date)) < 0.000_002)
            #expect(abs(back.seconds - time.seconds) <= 1)
        }
        #expect(Timestamp(Date(timeIntervalSince1970: -1.25)) == Timestamp(seconds: -2, nanoseconds: 750_000_000))
        #expect(Timestamp(Date(timeIntervalSince1970: .infinity)).seconds == .max)
    }

    @Test("a memento and a snapshot are stored in another state and describe themselves")
    func mementos() throws {
        try sandbox.root.write("file", "text")
        let snapshot = try sandbox.capture()
        try archive.save([snapshot.id: snapshot], as: "list of snapshots")
        #expect(try archive.load([SnapshotID: ListedSnapshot].self, as: "list of snapshots") == [snapshot.id: snapshot])
        #expect(snapshot.description.hasPrefix("\(snapshot.id.short) "))
        let memento = try archive.save(Game(), as: "game", label: "start")
        try archive.save([memento], as: "list of mementos")
        #expect(try archive.load([Memento].self, as: "list of mementos") == [memento])
        #expect(memento.description.contains("'game'") && memento.description.contains("(start)"))
    }

    @Test("the contents of a file in a snapshot are read, and refused by name if there is no file or it is too large")
    func contents() throws {
        try sandbox.root.makeDirectory("d")
        try sandbox.root.write("d/file", "text")
        let snapshot = try sandbox.capture()
        #expect(try archive.contents(of: "d/file", in: snapshot) == Array("text".utf8))
        ArchiverError.expect(.unsuitable) { _ = try archive.contents(of: "d/file", in: snapshot, limit: 3) }
        for path in ["d", "none"] as [RelativePath] {
            let error = ArchiverError.expect(.noSuchPath) { _ = try archive.contents(of: path, in: snapshot) }
            #expect(error?.message.contains(path.description) == true)
        }
    }
}
