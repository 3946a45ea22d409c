// The code of the article KeepingStates.md: the code between each "begin" and "end" must equal a block of the article.

import ArchiverKit
import FileIO
import Mementos
import TestSupport
import Testing

private struct Volume: Codable, Sendable, Equatable {
    var percent: Int
}

private struct OldSettings: Codable, Sendable {
    var loudness = 70
}

@Suite("The article on keeping states")
struct KeepingStatesArticle {
    private let sandbox: Sandbox
    private var archive: Archive { sandbox.archive }

    init() throws { sandbox = try Sandbox() }

    @Test("the article has the code blocks of this test")
    func blocks() throws {
        let article = try CodeBlocks.file("Sources/ArchiverKit/ArchiverKit.docc/KeepingStates.md")
        let source = try CodeBlocks.file("Tests/ArchiverKitTests/States/KeepingStatesArticle.swift")
        let blocks = CodeBlocks.ofDocument(article)
        #expect(!blocks.isEmpty && blocks == CodeBlocks.ofSource(source))
    }

    @Test("values are saved by title, and any of them can be loaded")
    func values() throws {
        // begin
        struct Game: Codable, Sendable, Equatable {
            var level = 1
            var score = 0
        }

        var game = try archive.load(as: "Best Game Ever", startingFrom: Game())
        game.score += 9002
        try archive.save(game, as: "Best Game Ever", label: "the boss is dead")
        game = try archive.load(as: "Best Game Ever", at: "latest~1")
        // end
        #expect(game == Game())

        // begin
        for memento in try archive.history(of: "Best Game Ever") {
            print(memento.shortID, memento.date, memento.label ?? "")
        }
        // end
        #expect(try archive.history(of: "Best Game Ever").map(\.label) == [nil, "the boss is dead"])

        // begin
        try archive.update("Best Game Ever") { (game: inout Game) in game.score += 1 }
        // end
        #expect(try archive.load(Game.self, as: "Best Game Ever").score == 9003)
    }

    @Test("a state is updated from async code")
    func asyncUpdate() async throws {
        struct Game: Codable, Sendable { var score = 0 }
        try await archive.save(Game(), as: "Best Game Ever")
        // begin
        try await archive.update("Best Game Ever") { (game: inout Game) in game.score += 1 }
        // end
        #expect(try await archive.load(Game.self, as: "Best Game Ever").score == 1)
    }

    // begin
    final class Player: Originator {
        struct State: Codable, Sendable {
            fileprivate var position = 0
        }

        private var state = State()

        func walk() { state.position += 1 }
        func captureState() -> State { state }
        func restore(_ state: State) { self.state = state }
    }
    // end

    @Test("a caretaker saves a state with private parts")
    func caretakers() async throws {
        // begin
        let caretaker = Caretaker(of: Player(), titled: "player", in: archive)
        caretaker.originator.walk()
        try await caretaker.save()
        caretaker.originator.walk()
        try await caretaker.restore(.latest)
        // end
        #expect(caretaker.originator.captureState().position == 1)
    }

    @Test("a caretaker with a retention keeps some states")
    func retention() async throws {
        // begin
        let caretaker = Caretaker(of: Player(), titled: "player", in: archive, keeping: .latest(100))
        // end
        for _ in 0..<120 {
            caretaker.originator.walk()
            try await caretaker.save()
        }
        #expect(try await (100...110).contains(caretaker.history().count))
    }

    // begin
    struct Settings: VersionedState, Codable, Sendable {
        var volume: Double
        var theme: String

        static let version = 3
        static let migrations = [
            Migration(from: 1) { $0.rename("loudness", to: "volume") },
            Migration(from: 2) { settings in
                settings.change("volume") { $0 = StateValue(($0.number ?? 50) / 100) }
                settings["theme"] = "light"
            },
        ]
    }
    // end

    @Test("older settings are migrated in two steps")
    func versions() throws {
        try archive.save(OldSettings(), as: "settings")
        let loaded: Settings = try archive.load(as: "settings")
        #expect(abs(loaded.volume - 0.7) < 0.001 && loaded.theme == "light")
    }

    @Test("an observable value is saved automatically")
    func autosave() throws {
        // begin
        let settings = Observable(Volume(percent: 50))
        let autosave = archive.autosave(settings, as: "volume")
        settings.update { $0.percent = 60 }
        try autosave.end()
        // end
        #expect(try archive.load(Volume.self, as: "volume").percent == 60)
    }

    @Test("a fetched value is cached")
    func caches() async throws {
        @Sendable func fetch(_ name: String) async throws -> [UInt8] { Array(name.utf8) }
        // begin
        let covers = StateCache<[UInt8]>("covers", in: archive, budget: 50 << 20)
        let cover = try await covers.value(for: "blue-train.png") {
            try await fetch("blue-train.png")
        }
        // end
        #expect(try await covers.value(for: "blue-train.png") == cover)
    }

    @Test("a missing title throws noSuchState")
    func failures() throws {
        var game = Game()
        // begin
        do {
            game = try archive.load(as: "Another Game")
        } catch StateError.noSuchState {
            print("there is none yet")
        }
        // end
        #expect(game == Game())
    }
}
