// Any saved state is loaded unchanged, and equal states are not stored twice.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Foundation
import Mementos
import SavedStates
import SystemPackage
import TestSupport
import TestTraits
import Testing

/// The state that most tests save.
struct Game: Codable, Sendable, Equatable {
    var attempts = 0
    var level = 1
    var score = 0
}

/// A state with every kind of Codable value.
private struct Everything: Codable, Sendable, Equatable {
    enum Mood: String, Codable, Sendable { case calm, wild }
    enum Shape: Codable, Sendable, Equatable { case circle(radius: Double), square, named(String, Int) }
    var text = "Grüße, \u{0} 世界"
    var small = Int8.min
    var large = UInt64.max
    var least = Int64.min
    var number = 1.5e-300
    var infinite = Double.infinity
    var single: Float = 0.1
    var truth = true
    var nothing: Int?
    var something: String? = ""
    var mood = Mood.wild
    var shapes = [Shape.circle(radius: 2), .square, .named("x", -1)]
    var byNumber = [3: "three", -1: "minus"]
    var byMood = ["a": [1, 2], "b": []]
    var nested = [[Game(score: 3)], []]
    var data = Data([0, 255, 128])
    var date = Date(timeIntervalSince1970: 1_763_712_000.123456)
    var url = URL(string: "https://example.org/a?b#c")
    var id = UUID()
    var decimal = Decimal(string: "1234567890.0987654321")
}

@Suite("Saving states", .blocking)
struct StateSavingTests {
    private let sandbox: Sandbox
    private var archive: Archive { sandbox.archive }

    init() throws { sandbox = try Sandbox() }

    @Test("any Codable value is loaded as it was saved, also by another program and with a rebuilt catalogue")
    func everything() throws {
        let state = Everything()
        try archive.save(state, as: "all")
        try archive.save([1, 2, 3], as: "list")
        try archive.save(7, as: "number")
        try archive.save(String?.none, as: "nothing")
        for again in [archive, try sandbox.reopened()] {
            #expect(try again.load(Everything.self, as: "all") == state)
            #expect(try again.load(as: "list") == [1, 2, 3])
            #expect(try again.load(Int.self, as: "number") == 7)
            #expect(try again.load(String?.self, as: "nothing") == nil)
        }
        #expect(try sandbox.copyWithoutCatalogue().load(Everything.self, as: "all") == state)
    }

    @Test(
        "a state of any size is loaded, and a small difference stores little",
        arguments: [1, 90, 5_000, isThorough ? 3_000_000 : 1_000_000])
    func sizes(count: Int) throws {
        var random = SeededGenerator()
        var state = (0..<count).map { _ in UInt32.random(in: 0...UInt32.max, using: &random) }
        let first = try archive.save(state, as: "numbers")
        #expect(try sandbox.reopened().load([UInt32].self, as: "numbers") == state)
        state[count / 2] = 5
        let second = try archive.save(state, as: "numbers")
        #expect(second.id != first.id)
        #expect(try sandbox.reopened().load([UInt32].self, as: "numbers") == state)
        #expect(second.storedBytes < 1_000 || second.storedBytes < first.storedBytes / 10)
    }

    @Test("a state equal to the latest is not stored again, unless it gets a label")
    func equalStates() throws {
        let segments = sandbox.base.directory.appending("archive/segments")
        let first = try archive.save(Game(score: 9002), as: "game")
        let size = try segments.bytesBelow()
        #expect(try archive.save(Game(score: 9002), as: "game") == first)
        #expect(try sandbox.reopened().save(Game(score: 9002), as: "game") == first)
        #expect(try segments.bytesBelow() == size)
        let labelled = try archive.save(Game(score: 9002), as: "game", label: "best")
        #expect(labelled.id != first.id && labelled.label == "best")
        #expect(try archive.save(Game(score: 9002), as: "game", label: "best") == labelled)
        #expect(try archive.save(Game(score: 9002), as: "game") == labelled)
        #expect(try archive.history(of: "game") == [first, labelled])
    }

    @Test("sets and dictionaries are equal in any encoding order")
    func unordered() throws {
        struct Tags: Codable, Sendable, Equatable { var tags: Set<String> }
        let words = (0..<50).map { "word \($0)" }
        let first = try archive.save(Tags(tags: Set(words)), as: "tags")
        for _ in 0..<10 {
            var other = Set<String>(minimumCapacity: Int.random(in: 50...2_000))
            for word in words.shuffled() { other.insert(word) }
            #expect(try archive.save(Tags(tags: other), as: "tags") == first)
        }
        #expect(try archive.save(Tags(tags: Set(words.dropFirst())), as: "tags") != first)
    }

    @Test("a state that was saved before stores only its record")
    func returning() throws {
        var random = SeededGenerator()
        let large = (0..<8_000).map { _ in UInt64.random(in: 0...UInt64.max, using: &random) }
        try archive.save(large, as: "numbers")
        try archive.save([UInt64](), as: "numbers")
        let again = try archive.save(large, as: "numbers")
        #expect(again.storedBytes < 600, "\(again.storedBytes)")
        #expect(try archive.load([UInt64].self, as: "numbers") == large)
        #expect(try archive.history(of: "numbers").count == 3)
    }

    @Test("the states of a title are found by order, time, label and id, but not those of other titles")
    func selecting() throws {
        let saved = try (0..<5).map { try archive.save(Game(score: $0), as: "game", label: $0 == 2 ? "two" : nil) }
        let other = try archive.save(Game(score: 77), as: "other", label: "elsewhere")
        func score(_ selector: String) throws -> Int {
            try archive.load(Game.self, as: "game", at: SnapshotSelector(selector)).score
        }
        #expect(try score("latest") == 4 && score("latest~4") == 0 && score("two") == 2)
        for (index, memento) in saved.enumerated() { #expect(try score(memento.id.hex) == index) }
        #expect(try score("@today") == 4)
        #expect(try archive.history(of: "game") == saved)
        #expect(zip(saved, saved.dropFirst()).allSatisfy { $0.time < $1.time })
        #expect(try archive.titles().map(\.title) == ["game", "other"])
        for wrong in ["latest~5", "three", "elsewhere", other.id.hex, "@2001-01-01"] {
            #expect { try score(wrong) } throws: { error in
                guard case .noSuchSelection(title: "game", _)? = error as? StateError else { return false }
                return true
            }
        }
    }

    @Test("the latest state is the last one saved, even if the clock was set back")
    func clock() throws {
        let first = try archive.save(Game(score: 1), as: "game")
        // Another process saved while the clock was years ahead.
        let ahead = StateRecord(
            title: "game", host: "", time: Timestamp(seconds: Timestamp.now.seconds + 400_000_000), sequence: 2,
            type: "Game", content: .inline(try archive.store.bytes(of: archive.store.stateRecord(StateID(first.id)))))
        _ = try archive.store.beginCommit().commit(ahead, bases: [])
        let before = Timestamp.now
        let last = try archive.save(Game(score: 3), as: "game")
        #expect(last.time >= before && last.time <= .now, "the time is the clock's")
        for archive in [archive, try sandbox.copyWithoutCatalogue()] {
            #expect(try archive.load(Game.self, as: "game") == Game(score: 3))
            #expect(try archive.states(of: "game").map(\.time) == [first.time, ahead.time, last.time])
            #expect(try archive.states(of: "game", newestFirst: true, limit: 1) == [last])
            #expect(try archive.states(of: "game", after: first).map(\.time) == [ahead.time, last.time])
            #expect(try archive.load(Game.self, as: "game", at: SnapshotSelector("latest~2")) == Game(score: 1))
            #expect(try archive.load(Game.self, as: "game", at: SnapshotSelector("@today")) == Game(score: 3))
            #expect(try archive.titles().first?.latest == last.time)
        }
        #expect(try archive.states(of: "game", until: first.time) == [first])
    }

    @Test("after a state with the greatest sequence number a save fails, until it is forgotten")
    func greatestSequence() throws {
        let record = StateRecord(
            title: "game", host: "", time: .now, sequence: Snapshot.sequenceLimit, type: "Game",
            content: .inline([0xa0]))
        let state = try archive.store.beginCommit().commit(record, bases: [])
        #expect(throws: StateError.self) { try archive.save(Game(score: 1), as: "game") }
        try archive.forget(allOf: "game")
        #expect(try archive.save(Game(score: 1), as: "game").id != state.id.chunk)
    }

    @Test("the first start uses the given state, and later starts the saved one")
    func firstStart() throws {
        let url = URL(filePath: sandbox.base.directory.appending("default.json").string)
        try StateFile.save(Game(level: 5), to: url)
        #expect(try archive.load(Game.self, as: "from file", startingFrom: url) == Game(level: 5))
        #expect(try archive.load(as: "from value", startingFrom: Game(level: 6)) == Game(level: 6))
        try archive.save(Game(level: 7), as: "from file")
        let again = try sandbox.reopened()
        #expect(try again.load(Game.self, as: "from file", startingFrom: url) == Game(level: 7))
        #expect(try again.load(as: "from value", startingFrom: Game()) == Game(level: 6))
        #expect(throws: StateError.self) {
            try again.load(Game.self, as: "missing", startingFrom: URL(filePath: "/nowhere/at/all.json"))
        }
        #expect(try again.history(of: "missing").isEmpty)
    }

    @Test("a forgotten state is no longer listed or loaded, even with a rebuilt catalogue")
    func forgetting() throws {
        let saved = try (0..<4).map { try archive.save(Game(score: $0), as: "game") }
        try archive.forget([saved[1], saved[3]])
        for again in [archive, try sandbox.reopened()] {
            #expect(try again.history(of: "game") == [saved[0], saved[2]])
            #expect(try again.load(Game.self, as: "game").score == 2)
        }
        #expect(try sandbox.copyWithoutCatalogue().history(of: "game") == [saved[0], saved[2]])
        try archive.forget(archive.history(of: "game"))
        #expect { try archive.load(Game.self, as: "game") } throws: { error in
            guard case .noSuchState(title: "game")? = error as? StateError else { return false }
            return true
        }
        #expect(try archive.titles().isEmpty)
    }

    @Test("a wrong type, a missing state and a bad title or label throw an error and change nothing")
    func failures() throws {
        struct Unencodable: Codable, Sendable {
            init() {}
            init(from decoder: any Decoder) throws {}
            func encode(to encoder: any Encoder) throws { throw SystemFailure("encode", "x") }
        }
        let saved = try archive.save(["a": "b"], as: "game")
        func failure(_ body: () throws -> Void) -> StateError? {
            do { try body() } catch { return error as? StateError }
            return nil
        }
        let wrongType = failure { _ = try archive.load(Game.self, as: "game") }
        guard case .undecodable(.saved(let id, title: "game"), let type, _)? = wrongType else {
            return #expect(Bool(false), "decoded")
        }
        #expect(id.chunk == saved.id)
        #expect(type == "Dictionary<String, String>")
        #expect(wrongType?.message.contains("a value of the type Dictionary<String, String>, cannot be") == true)
        guard case .noSuchState(title: "none")? = failure({ _ = try archive.load(Game.self, as: "none") }) else {
            return #expect(Bool(false), "loaded")
        }
        guard case .unencodable? = failure({ try archive.save(Unencodable(), as: "game") }) else {
            return #expect(Bool(false), "encoded")
        }
        for title in ["", "a\nb", "\u{7f}"] {
            guard case .malformedTitle? = failure({ try archive.save(1, as: title) }) else {
                return #expect(Bool(false), "titled")
            }
        }
        guard case .archive? = failure({ try archive.save(1, as: "game", label: "a:b") }) else {
            return #expect(Bool(false), "labelled")
        }
        #expect(try archive.history(of: "game") == [saved])
        #expect(try archive.load([String: String].self, as: "game") == ["a": "b"])
    }

    @Test("a damaged state that is saved again can be loaded")
    func damage() throws {
        var random = SeededGenerator()
        let state = (0..<2_000).map { _ in UInt32.random(in: 0...UInt32.max, using: &random) }
        let path = sandbox.base.directory.appending("damaged")
        do { try Archive.open(path, creating: true).save(state, as: "numbers") }
        let segments = URL(filePath: path.appending("segments").string)
        let names = try FileManager.default.subpathsOfDirectory(atPath: segments.path())
        let segment = segments.appending(path: try #require(names.first { $0.hasSuffix(".segment") }))
        var bytes = try Data(contentsOf: segment)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: segment)

        let archive = try Archive.open(path)
        #expect(throws: StateError.self) { try archive.load([UInt32].self, as: "numbers") }
        try archive.save(state, as: "numbers")
        #expect(try archive.load([UInt32].self, as: "numbers") == state)
        #expect(try Archive.open(path).load([UInt32].self, as: "numbers") == state)
    }

    @Test("states saved by many threads are all in the history, each once")
    func threads() throws {
        let archives = [archive, try sandbox.reopened()]
        concurrently(8) { thread in
            for number in 0..<25 {
                let title = number % 5 == 0 ? "all" : "\(thread)"
                #expect(throws: Never.self) { try archives[thread % 2].save([thread, number], as: title) }
            }
        }
        let shared = try archive.history(of: "all").map {
            try archive.load([Int].self, as: "all", at: SnapshotSelector($0.id.hex))
        }
        #expect(Set(shared).count == 40 && shared.count == 40)
        #expect(try (0..<8).allSatisfy { try archive.history(of: "\($0)").count == 20 })
        #expect(try archive.check(data: true).findingCount == 0)
    }
}
