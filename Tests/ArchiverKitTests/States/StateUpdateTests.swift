// Updates: loading, changing and saving in one step.

import ArchiveStorage
import ArchiverKit
import Dispatch
import FileIO
import Mementos
import TestTraits
import Testing
import Threading

@Suite("Updating states", .blocking)
struct StateUpdateTests {
    private let sandbox: Sandbox
    private var archive: Archive { sandbox.archive }

    private struct Refusal: Error {}

    /// A later version of `Game`.
    private struct Match: VersionedState, Codable, Sendable, Equatable {
        var attempts = 0, level = 1, points = 0
        static let version = 2
        static let migrations = [Migration(from: 1) { $0.rename("score", to: "points") }]
    }

    init() throws { sandbox = try Sandbox() }

    @Test("an update changes the latest state and returns the result of its body")
    func changes() throws {
        let score = try archive.update("game", startingFrom: Game()) { game in
            game.score += 7
            return game.score
        }
        #expect(score == 7)
        try archive.update("game", label: "best") { (game: inout Game) in game.level = 2 }
        #expect(try archive.load(Game.self, as: "game") == Game(level: 2, score: 7))
        #expect(try archive.history(of: "game").map(\.label) == [nil, "best"])
        try archive.update("game", startingFrom: Game(score: 1_000)) { game in game.score += 1 }
        #expect(try archive.load(Game.self, as: "game").score == 8)
        try archive.update("game") { (_: inout Game) in }
        #expect(try archive.history(of: "game").count == 3, "what has not changed is not stored again")
    }

    @Test("if the body of an update throws, the update rethrows and saves nothing")
    func throwing() throws {
        #expect(throws: Refusal.self) {
            try archive.update("game", startingFrom: Game()) { game in
                game.score = 5
                throw Refusal()
            }
        }
        #expect(try archive.history(of: "game").isEmpty)
        try archive.save(Game(score: 1), as: "game")
        #expect(throws: Refusal.self) {
            try archive.update("game") { (game: inout Game) in
                game.score = 5
                throw Refusal()
            }
        }
        #expect(try archive.load(Game.self, as: "game").score == 1)
        try archive.update("game") { (game: inout Game) in game.score = 6 }
        #expect(try archive.load(Game.self, as: "game").score == 6)
    }

    @Test("an update of a title without states throws noSuchState")
    func missing() throws {
        #expect {
            try archive.update("none") { (_: inout Game) in }
        } throws: { error in
            guard case .noSuchState(title: "none")? = error as? StateError else { return false }
            return true
        }
        #expect(throws: StateError.self) { try archive.update("a\nb", startingFrom: 1) { $0 += 1 } }
        #expect(throws: StateError.self) { try archive.update("a", startingFrom: 1, label: "a:b") { $0 += 1 } }
        #expect(try archive.titles().isEmpty)
    }

    @Test("an update migrates an older state, and does not change a newer one")
    func versions() throws {
        try archive.save(Game(score: 3), as: "game")
        try archive.update("game") { (match: inout Match) in match.points += 1 }
        #expect(try archive.load(Match.self, as: "game").points == 4)
        let history = try archive.history(of: "game")
        #expect {
            try archive.update("game", startingFrom: Game()) { $0.score += 1 }
        } throws: { error in
            guard case .newerVersion(_, version: 2, known: 1)? = error as? StateError else { return false }
            return true
        }
        #expect(try archive.history(of: "game") == history && history.count == 2)
    }

    @Test("saving under a title within its own update throws an error; under another title it works")
    func nesting() throws {
        let again = try sandbox.reopened()
        try archive.update("game", startingFrom: Game()) { game in
            for archive in [archive, again] {
                #expect {
                    try archive.save(Game(), as: "game")
                } throws: { error in
                    guard case .titleInUse(title: "game")? = error as? StateError else { return false }
                    return "\(error)".contains("update")
                }
                #expect(throws: StateError.self) { try archive.update("game", startingFrom: Game()) { _ in } }
                #expect(throws: StateError.self) { try archive.load(as: "game", startingFrom: Game()) }
            }
            try archive.save(Game(score: 1), as: "other")
            game.score = 2
        }
        #expect(try archive.load(Game.self, as: "game").score == 2)
        #expect(try archive.load(Game.self, as: "other").score == 1)
        try archive.save(Game(score: 3), as: "game")
        #expect(try archive.load(Game.self, as: "game").score == 3)
    }

    @Test("of two threads whose nested updates wait for each other, one is refused at once with both titles named")
    func oppositeOrder() throws {
        let archives = [archive, try sandbox.reopened()]
        let gate = Locked(0)
        let refused = Locked<[String]>([])
        let bothHold = DispatchSemaphore(value: 0)
        concurrently(2) { thread in
            let (outer, inner) = thread == 0 ? ("a", "b") : ("b", "a")
            do {
                try archives[thread].update(outer, startingFrom: 0) { outer in
                    // Each holds its title before either asks for the other's.
                    if gate.withLock({
                        $0 += 1; return $0 == 2
                    }) {
                        bothHold.signal()
                        bothHold.signal()
                    }
                    bothHold.wait()
                    outer += 1
                    try archives[thread].update(inner, startingFrom: 0) { $0 += 1 }
                }
            } catch { refused.withLock { $0.append("\(error)") } }
        }
        let messages = refused.withLock { $0 }
        #expect(messages.count == 1)
        #expect(messages.allSatisfy { $0.contains("'a'") && $0.contains("'b'") }, "\(messages)")
        // The refused one has saved nothing, and the other one has saved both.
        #expect(try archive.load(Int.self, as: "a") == 1)
        #expect(try archive.load(Int.self, as: "b") == 1)
    }

    @Test("a title composed of other Unicode characters that look the same is the same title")
    func equivalentTitles() throws {
        let (composed, decomposed) = ("Caf\u{e9}", "Cafe\u{301}")
        try archive.save(1, as: decomposed)
        #expect(try archive.load(Int.self, as: composed) == 1)
        try archive.update(composed) { (number: inout Int) in number += 1 }
        #expect(try archive.load(Int.self, as: decomposed) == 2)
        #expect(try archive.history(of: decomposed).count == 2)
        #expect(try archive.titles().map { Array($0.title.unicodeScalars) } == [Array(composed.unicodeScalars)])
    }

    private final class Link: Codable, Sendable {
        let next: Link?
        init(_ next: Link?) { self.next = next }
    }

    @Test("a value nested too deeply is refused with the limit named, and nothing is saved")
    func deep() throws {
        var link = Link(nil)
        for _ in 0..<100 { link = Link(link) }
        try archive.save(link, as: "links")
        for _ in 0..<100 { link = Link(link) }
        let deep = link
        #expect {
            try archive.save(deep, as: "links")
        } throws: { error in
            guard case .unencodable(title: "links", _)? = error as? StateError else { return false }
            return "\(error)".contains("128")
        }
        #expect(try archive.history(of: "links").count == 1)
    }

    @Test("no change that several threads make to one state is lost")
    func threads() throws {
        let archives = [archive, try sandbox.reopened()]
        concurrently(8) { thread in
            for _ in 0..<25 {
                #expect(throws: Never.self) {
                    try archives[thread % 2].update("count", startingFrom: 0) { $0 += 1 }
                }
            }
        }
        #expect(try archive.load(Int.self, as: "count") == 200)
        #expect(try archive.history(of: "count").count == 200)
    }
}
