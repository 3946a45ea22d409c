// Autosaves: after changes, at an interval, and at the end.

import ArchiveFormat
import ArchiverKit
import Foundation
import Mementos
import Synchronization
import SystemPackage
import TestTraits
import Testing

@Suite("Autosave", .blocking)
struct AutosaveTests {
    private let sandbox: Sandbox
    private var archive: Archive { sandbox.archive }

    init() throws { sandbox = try Sandbox() }

    @Test("changes are saved automatically, the last of a burst always", .timeLimit(.minutes(60)))
    func changes() async throws {
        let game = Observable(Game())
        let autosave = archive.autosave(game, as: "game", settle: .milliseconds(5), maxDelay: .milliseconds(200))
        let saved = autosave.saved.events()
        for score in 1...500 { game.update { $0.score = score } }
        var last = 0
        for await memento in saved {
            last = try await archive.load(Game.self, as: "game", at: SnapshotSelector(memento.id.hex)).score
            if last == 500 { break }
        }
        #expect(last == 500)
        #expect(try archive.history(of: "game").count < 500, "a burst is not saved change by change")
        try autosave.end()
        game.update { $0.score = 501 }
        try autosave.flush()
        #expect(try await archive.load(Game.self, as: "game").score == 501)
    }

    @Test("a value that changes all the time is saved after the maximum delay", .timeLimit(.minutes(60)))
    func restless() async throws {
        let game = Observable(Game())
        let autosave = archive.autosave(game, as: "game", settle: .seconds(3_600), maxDelay: .milliseconds(20))
        let saved = autosave.saved.events()
        let isDone = Atomic(false)
        Thread.detachNewThread { [game] in
            while !isDone.load(ordering: .relaxed) { game.update { $0.score += 1 } }
        }
        for await _ in saved { break }
        isDone.store(true, ordering: .relaxed)
        #expect(try await archive.load(Game.self, as: "game").score > 0)
    }

    @Test("the result of a closure is saved at the interval, and equal states once", .timeLimit(.minutes(60)))
    func intervals() async throws {
        let calls = Atomic(0)
        let (asked, continuation) = AsyncStream.makeStream(of: Int.self)
        let autosave = archive.autosave(as: "number", every: .milliseconds(2)) {
            let count = calls.add(1, ordering: .relaxed).newValue
            continuation.yield(count)
            return min(count, 3)
        }
        for await count in asked where count >= 10 { break }
        try autosave.end()
        #expect(try await archive.load(Int.self, as: "number") == 3)
        #expect(try archive.history(of: "number").count == 3)
    }

    @Test("flush saves immediately, end saves and ends, and only changes are saved")
    func flushing() throws {
        let game = Observable(Game())
        let autosave = archive.autosave(game, as: "game", settle: .seconds(3_600), maxDelay: .seconds(3_600))
        game.update { $0.score = 7 }
        try autosave.flush()
        #expect(try sandbox.reopened().load(Game.self, as: "game").score == 7)
        try autosave.flush()
        #expect(try archive.history(of: "game").count == 1)
        game.update { $0.score = 8 }
        try autosave.end()
        #expect(try archive.load(Game.self, as: "game").score == 8)
        #expect(!game.isObserved)
    }

    @Test("an autosave saves once more when it is released")
    func vanishing() throws {
        let game = Observable(Game())
        do {
            let autosave = archive.autosave(game, as: "game", settle: .seconds(3_600))
            game.update { $0.score = 9 }
            withExtendedLifetime(autosave) {}
        }
        #expect(!game.isObserved)
        #expect(try archive.load(Game.self, as: "game").score == 9)
    }

    @Test("changes after the end are not saved, even when the autosave is released")
    func ended() throws {
        let game = Observable(Game())
        do {
            let autosave = archive.autosave(game, as: "game", settle: .seconds(3_600))
            game.update { $0.score = 9 }
            try autosave.end()
            game.update { $0.score = 10 }
        }
        #expect(try archive.load(Game.self, as: "game").score == 9)
    }

    @Test("an autosave with an endless interval saves only at its end")
    func endlessInterval() throws {
        let autosave = archive.autosave(as: "number", every: .seconds(Int64.max)) { 1 }
        try autosave.end()
        #expect(try archive.load(Int.self, as: "number") == 1)
    }

    @Test("a failure is reported, and saving is retried until it succeeds", .timeLimit(.minutes(60)))
    func failures() async throws {
        let value = Observable(Fragile(isBroken: true))
        let autosave = archive.autosave(value, as: "value", settle: .zero, maxDelay: .milliseconds(5))
        let (failed, saved) = (autosave.failed.events(), autosave.saved.events())
        value.update { $0.number = 1 }
        for await error in failed {
            guard case .unencodable(title: "value", _) = error else { throw error }
            break
        }
        #expect(throws: StateError.self) { try autosave.flush() }
        // After the repair, only the retry can save this change.
        Fragile.mends.store(true, ordering: .relaxed)
        for await _ in saved { break }
        #expect(try await archive.load(Fragile.self, as: "value").number == 1)
    }

    /// Cannot be encoded until `mends` is set.
    private struct Fragile: Codable, Sendable, Equatable {
        static let mends = Atomic(false)
        var isBroken = false
        var number = 0

        init(isBroken: Bool) { self.isBroken = isBroken }

        func encode(to encoder: any Encoder) throws {
            if isBroken, !Fragile.mends.load(ordering: .relaxed) { throw SystemFailure("encode", "x") }
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(isBroken, forKey: .isBroken)
            try container.encode(number, forKey: .number)
        }
    }

    @Test("an undo history continues after a restart, and undoes earlier steps")
    func undoHistories() throws {
        let history = UndoHistory<Rename>(of: Observable("a"))
        let autosave = archive.autosave(history, as: "names", settle: .seconds(3_600))
        for name in ["b", "c", "d"] { try history.execute(Rename(to: name)) }
        try history.undo()
        try autosave.end()

        let kept: UndoMemento<Rename> = try sandbox.reopened().load(as: "names")
        let later = UndoHistory<Rename>(of: Observable(kept.state), position: kept.position)
        #expect(later.state.value == "c")
        try later.redo()
        #expect(later.state.value == "d")
        for _ in 0..<3 { try later.undo() }
        #expect(later.state.value == "a" && !later.canUndo.value)
    }

    @Test("an undo history is also saved when its state changes without a command", .timeLimit(.minutes(60)))
    func stateOfHistories() async throws {
        let history = UndoHistory<Rename>(of: Observable("a"))
        let autosave = archive.autosave(history, as: "names", settle: .zero, maxDelay: .milliseconds(5))
        let saved = autosave.saved.events()
        history.state.set("b")
        for await memento in saved {
            #expect(memento.title == "names")
            break
        }
        #expect(try await archive.load(UndoMemento<Rename>.self, as: "names").state == "b")
    }

    @Test("an autosave without changes does not overwrite states that others saved")
    func others() throws {
        try archive.save(Game(score: 1), as: "game")
        let game = Observable(try archive.load(Game.self, as: "game"))
        do {
            let autosave = archive.autosave(game, as: "game", settle: .seconds(3_600))
            try sandbox.reopened().save(Game(score: 2), as: "game")
            try autosave.flush()
            try autosave.end()
        }
        #expect(try archive.load(Game.self, as: "game").score == 2)
    }

    @Test("a caretaker saves and restores an undo history")
    func undoOriginators() async throws {
        let history = UndoHistory<Rename>(of: Observable("a"))
        try history.execute(Rename(to: "b"))
        var caretaker = Caretaker(of: UndoOriginator(history), titled: "names", in: archive)
        try await caretaker.save()
        try history.execute(Rename(to: "c"))
        try await caretaker.restore(.latest)
        #expect(history.state.value == "b")
        try history.undo()
        #expect(history.state.value == "a")
    }

    private struct Rename: Command, Codable, Equatable {
        let new: String
        private var old: String?

        init(to new: String) { self.new = new }
        var name: String { "Rename" }

        mutating func execute(on state: inout String) {
            old = state
            state = new
        }

        func undo(on state: inout String) { state = old ?? state }
    }
}
