// Memento: a caretaker saves a game's state, and restores it after a new game has begun.

import ArchiverKit
import ArgumentParser
import Mementos

/// A game; the monster's memory is private.
struct Game: Originator {
    struct State: Codable, Sendable {
        fileprivate var attempts = 3
        fileprivate var level = 1
        fileprivate var score = 0
        fileprivate var monsterMemory = 0
    }

    private var state = State()

    var summary: String { "attempts \(state.attempts), level \(state.level), score \(state.score)" }

    mutating func rackUpMassivePoints() {
        state.score += 9002
        state.level += 1
    }

    mutating func meetMonster() {
        state.attempts -= 1
        state.monsterMemory += 1
    }

    func captureState() -> State { state }

    mutating func restore(_ state: State) { self.state = state }
}

struct GameExample: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "game", abstract: "Save a game, and load it again.")

    @Flag(help: "Load the game that an earlier run saved, instead of playing.")
    var load = false

    func run() async throws {
        var caretaker = Caretaker(of: Game(), titled: "Best Game Ever", in: try Archive.forExamples())
        if load {
            try await caretaker.restore(.latest)
            return print("loaded:", caretaker.originator.summary)
        }
        caretaker.originator.meetMonster()
        caretaker.originator.rackUpMassivePoints()
        try await caretaker.save()
        print("saved:", caretaker.originator.summary)

        caretaker.originator = Game()
        print("new:", caretaker.originator.summary)

        try await caretaker.restore(.latest)
        print("loaded:", caretaker.originator.summary)
    }
}
