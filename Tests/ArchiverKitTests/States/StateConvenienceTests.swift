// Conveniences of saved states: selector literals, mementos, dates, URLs.

import ArchiverKit
import Foundation
import Mementos
import SystemPackage
import TestTraits
import Testing

@Suite("Conveniences of saved states", .blocking)
struct StateConvenienceTests {
    private let sandbox: Sandbox
    private var archive: Archive { sandbox.archive }

    init() throws { sandbox = try Sandbox() }

    @Test("a selector can be a literal; a malformed literal fails when it is used")
    func literals() throws {
        for number in 1...3 { try archive.save(number, as: "number", label: "n\(number)") }
        #expect(try archive.load(Int.self, as: "number", at: "latest~2") == 1)
        #expect(try archive.load(Int.self, as: "number", at: "n2") == 2)
        let wrong: SnapshotSelector = "latest~x"
        #expect(wrong.description == "latest~x")
        do {
            _ = try archive.load(Int.self, as: "number", at: wrong)
            Issue.record("'latest~x' was understood")
        } catch StateError.archive(let error) {
            #expect(error.code == .malformedSelector && error.message.contains("how many snapshots to go back"))
        }
        ArchiverError.expect(.malformedSelector) { _ = try archive.snapshot("a:b") }
    }

    @Test("a memento is loaded whatever is saved later, until it is forgotten")
    func mementos() throws {
        let first = try archive.save(1, as: "number")
        try archive.save(2, as: "number", label: first.shortID + "x")
        #expect(try archive.load(Int.self, first) == 1)
        #expect(try archive.history(of: "number").map { try archive.load($0) as Int } == [1, 2])
        try archive.forget([first])
        #expect(throws: StateError.self) { try archive.load(Int.self, first) }
    }

    @Test("a caretaker restores, reads and forgets by memento")
    func caretaker() async throws {
        struct Counter: Originator {
            var count = 0
            func captureState() -> Int { count }
            mutating func restore(_ state: Int) { count = state }
        }
        var caretaker = Caretaker(of: Counter(count: 1), titled: "counter", in: archive)
        let first = try await caretaker.save()
        caretaker.originator.count = 2
        try await caretaker.save()
        #expect(try await caretaker.state(of: first) == 1)
        try await caretaker.restore(first)
        #expect(caretaker.originator.count == 1)
        try await caretaker.forget(first)
        await #expect(throws: StateError.self) { try await caretaker.restore(first) }
        #expect(caretaker.originator.count == 1)
    }

    @Test("a memento's date is its time")
    func dates() throws {
        let before = Date()
        let memento = try archive.save(1, as: "number")
        // The memento's time has nanoseconds; its date is close to it.
        #expect(memento.date.timeIntervalSince(before) > -0.001 && memento.date.timeIntervalSinceNow < 0.001)
    }

    @Test("an archive is opened by a string, a URL or a path")
    func opening() throws {
        let directory = sandbox.base.directory.appending("an archive")
        try Archive.open(directory.string, creating: true).save(7, as: "number")
        let byURL = try Archive.open(URL(filePath: directory.string))
        #expect(try byURL.load(Int.self, as: "number") == 7)
        #expect(try Archive.open(directory).load(Int.self, as: "number") == 7)
        let address = try #require(URL(string: "https://example.org/archive"))
        let error = ArchiverError.expect(.noArchive) { _ = try Archive.open(address, creating: true) }
        #expect(error?.message.contains("https://example.org/archive is not on this machine") == true)
    }

    @Test("migrations create state values from numbers, texts and lists")
    func stateValues() throws {
        struct Old: Codable, Sendable { var name = "Ada", percent = 40 }
        struct New: VersionedState, Codable, Sendable, Equatable {
            var name: String
            var volume: Double
            var tags: [String]
            var isLoud: Bool
            var big: UInt64
            static let version = 2
            static let migrations = [
                Migration(from: 1) { old in
                    let percent = old["percent"]?.integer ?? 0
                    old["volume"] = StateValue(Double(percent) / 100)
                    old["name"] = StateValue((old["name"]?.text ?? "").uppercased())
                    old["tags"] = StateValue(["a", "b"].map { StateValue($0) })
                    old["isLoud"] = StateValue(percent > 50)
                    old["big"] = StateValue(UInt64.max)
                    old.remove("percent")
                }
            ]
        }
        try archive.save(Old(), as: "settings")
        let new: New = try archive.load(as: "settings")
        #expect(new == New(name: "ADA", volume: 0.4, tags: ["a", "b"], isLoud: false, big: .max))
    }
}
