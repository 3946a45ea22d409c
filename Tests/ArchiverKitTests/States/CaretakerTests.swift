// Caretakers of structures, classes, actors and directories.

import ArchiveStorage
import ArchiverKit
import FileIO
import Mementos
import SystemPackage
import TestTraits
import Testing

/// An originator whose state has a private part.
private struct Counter: Originator {
    struct State: Codable, Sendable {
        fileprivate var count: Int
        fileprivate var secret: String
    }

    private(set) var count = 0
    private var secret = ""

    mutating func add(_ number: Int) {
        count += number
        secret += "\(number),"
    }

    var summary: String { "\(count): \(secret)" }

    func captureState() -> State { State(count: count, secret: secret) }

    mutating func restore(_ state: State) {
        count = state.count
        secret = state.secret
    }
}

/// A class that is not Sendable.
private final class Document: Originator {
    private(set) var text = ""

    func type(_ more: String) { text += more }
    func captureState() -> String { text }
    func restore(_ state: String) { text = state }
}

private actor Account: Originator {
    private(set) var balance = 0

    func deposit(_ amount: Int) { balance += amount }
    func captureState() -> Int { balance }
    func restore(_ state: Int) { balance = state }
}

@MainActor
private final class Screen: Originator {
    var title = "new"

    func captureState() -> [String] { [title] }
    func restore(_ state: [String]) { title = state.first ?? "" }
}

/// Fails when `fails` is set.
private struct Moody: Originator {
    var fails = false

    func captureState() throws -> Int {
        if fails { throw SystemFailure("capture", "mood") }
        return 1
    }

    func restore(_ state: Int) throws {
        if fails { throw SystemFailure("restore", "mood") }
    }
}

@Suite("Caretakers", .blocking)
struct CaretakerTests {
    private let sandbox: Sandbox
    private var archive: Archive { sandbox.archive }

    init() throws { sandbox = try Sandbox() }

    @Test("any state of a structure is restored with its private parts, also in another program")
    func structures() async throws {
        var caretaker = Caretaker(of: Counter(), titled: "counter", in: archive)
        caretaker.originator.add(1)
        try await caretaker.save(label: "one")
        caretaker.originator.add(2)
        try await caretaker.save()
        caretaker.originator.add(100)
        try await caretaker.restore(.latest)
        #expect(caretaker.originator.summary == "3: 1,2,")
        try await caretaker.restore("one")
        #expect(caretaker.originator.summary == "1: 1,")
        var other = Caretaker(of: Counter(), titled: "counter", in: try sandbox.reopened())
        try await other.restore(.latest)
        #expect(other.originator.summary == "3: 1,2,")
        #expect(try await other.history().map(\.label) == ["one", nil])
        #expect(try await other.state(at: "latest~1").count == 1)
    }

    @Test("the states of a class, an actor and a main-actor class are restored")
    func references() async throws {
        let document = Caretaker(of: Document(), titled: "document", in: archive)
        document.originator.type("hello")
        try await document.save()
        document.originator.type(" world")
        try await document.restore(.latest)
        #expect(document.originator.text == "hello")

        let account = Caretaker(of: Account(), titled: "account", in: archive)
        await account.originator.deposit(5)
        try await account.save()
        await account.originator.deposit(7)
        try await account.restore(.latest)
        #expect(await account.originator.balance == 5)
        try await onMainActor()
    }

    @MainActor
    private func onMainActor() async throws {
        let screen = Caretaker(of: Screen(), titled: "screen", in: archive)
        screen.originator.title = "saved"
        try await screen.save()
        screen.originator.title = "changed"
        try await screen.restore(.latest)
        #expect(screen.originator.title == "saved")
    }

    @Test("a caretaker restores a directory, and its former state stays in the archive")
    func directories() async throws {
        try sandbox.root.write("novel.txt", "It was a dark night")
        var caretaker = Caretaker(of: DirectoryOriginator(sandbox.root.directory, in: archive))
        let first = try await caretaker.save(label: "draft")
        try sandbox.root.write("novel.txt", "It was a bright day")
        try sandbox.root.write("more.txt", "x")
        try await caretaker.restore("draft")
        #expect(try sandbox.root.read("novel.txt") == Array("It was a dark night".utf8))
        #expect(try sandbox.root.names() == ["novel.txt"])
        let history = try await caretaker.history()
        #expect(history.first == first && history.count == 3)
        try await caretaker.restore(SnapshotSelector(history[1].shortID))
        #expect(try sandbox.root.read("novel.txt") == Array("It was a bright day".utf8))
        #expect(try await caretaker.save(label: "second").label == "second")
        try await caretaker.forget("draft")
        #expect(try await caretaker.history().contains(first) == false)
        await #expect(throws: StateError.self) { try await caretaker.state(at: "draft") }
    }

    @Test("the first start saves the present state, and later starts load the saved one")
    func starting() async throws {
        var first = Caretaker(of: Counter(), titled: "counter", in: archive)
        first.originator.add(4)
        try await first.start()
        var second = Caretaker(of: Counter(), titled: "counter", in: archive)
        try await second.start()
        #expect(second.originator.count == 4)
        #expect(try await second.history().count == 1)
    }

    @Test("a caretaker switches to another title, or changes nothing if the title has no states")
    func titles() async throws {
        var caretaker = Caretaker(of: Counter(), titled: "one", in: archive)
        caretaker.originator.add(1)
        try await caretaker.save()
        caretaker = Caretaker(of: caretaker.originator, titled: "two", in: archive)
        caretaker.originator.add(1)
        try await caretaker.save()
        try await caretaker.load(title: "one")
        #expect(caretaker.title == "one" && caretaker.originator.count == 1)
        await #expect(throws: StateError.self) { try await caretaker.load(title: "three") }
        #expect(caretaker.title == "one" && caretaker.originator.count == 1)
    }

    @Test("an originator's error is reported with the title, and nothing is saved or forgotten")
    func failures() async throws {
        var caretaker = Caretaker(of: Moody(), titled: "mood", in: archive)
        let saved = try await caretaker.save()
        caretaker.originator.fails = true
        for attempt in 0..<2 {
            do throws(StateError) {
                if attempt == 0 { try await caretaker.save() } else { try await caretaker.restore(.latest) }
                Issue.record("nothing was thrown")
            } catch {
                guard case .originator(title: "mood", let cause) = error else { throw error }
                #expect(cause is SystemFailure)
            }
        }
        #expect(try await caretaker.history() == [saved])
    }

    @Test("a caretaker forgets one state or all states")
    func forgetting() async throws {
        var caretaker = Caretaker(of: Counter(), titled: "counter", in: archive)
        for number in 1...3 {
            caretaker.originator.add(number)
            try await caretaker.save()
        }
        try await caretaker.forget(.latest)
        try await caretaker.restore(.latest)
        #expect(caretaker.originator.count == 3)
        try await caretaker.forgetAll()
        #expect(try await caretaker.history().isEmpty)
        do throws(StateError) { try await caretaker.restore(.latest) } catch {
            guard case .noSuchState(title: "counter") = error else { throw error }
        }
    }
}
