// What a selector names in an archive with snapshots and saved states.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import TestTraits
import Testing

@Suite("Selecting snapshots and states", .blocking)
struct StateSelectingTests {
    private let sandbox: Sandbox
    private var archive: Archive { sandbox.archive }

    init() throws { sandbox = try Sandbox() }

    private func selected(_ text: String) throws -> Selection {
        try archive.selected(SnapshotSelector(text), of: nil, orElsewhere: true)
    }

    private func save(_ value: Int, as title: String, label: String? = nil) throws -> ListedState {
        let id = StateID(try archive.save(value, as: title, label: label).id)
        return try #require(try archive.states().first { $0.id == id })
    }

    @Test("labels come before ids and ids before titles; orders and times name snapshots")
    func order() throws {
        let state = try save(1, as: "game", label: "best")
        ArchiverError.expect(.noSuchSnapshot) { _ = try selected("latest") }
        let snapshot = try sandbox.capture(label: "first")
        let latest = try save(2, as: "game")
        let named = try save(3, as: String(snapshot.id.hex.prefix(12)))
        // A longer prefix would be refused as a label.
        let labelled = try save(4, as: "other", label: String(state.id.hex.prefix(3)))
        #expect(try selected("best") == .state(state))
        #expect(try selected("first") == .snapshot(snapshot))
        #expect(try selected("game") == .state(latest))
        #expect(try selected(state.id.hex.uppercased()) == .state(state))
        #expect(try selected(named.title) == .snapshot(snapshot))
        #expect(try selected(String(state.id.hex.prefix(3))) == .state(labelled))
        #expect(try selected("latest") == .snapshot(snapshot))
        #expect(try selected("@today") == .snapshot(snapshot))
        ArchiverError.expect(.noSuchSnapshot) { _ = try selected("latest~1") }
        ArchiverError.expect(.noSuchSnapshot) { _ = try selected("nothing") }
    }

    @Test("a label of both a snapshot and a state is ambiguous, and both are candidates")
    func ambiguousLabel() throws {
        let snapshot = try sandbox.capture(label: "v1")
        let state = try save(1, as: "game", label: "v1")
        let error = ArchiverError.expect(.ambiguousSelector) { _ = try selected("v1") }
        #expect(error?.candidates == [.snapshot(snapshot), .state(state)])
        #expect(try archive.snapshot("v1") == snapshot)
        #expect(try archive.state("v1", titled: "game") == state)
    }

    @Test("the first digits of several ids are ambiguous, and all their snapshots and states are candidates")
    func ambiguousID() throws {
        let snapshot = try sandbox.capture()
        let digit = String(snapshot.id.hex.prefix(1))
        var same: [ListedState] = []
        for number in 0..<1_000 where same.count < 2 {
            let state = try save(number, as: "game")
            if state.id.hex.hasPrefix(digit) { same.append(state) }
        }
        #expect(same.count == 2)
        let error = ArchiverError.expect(.ambiguousSelector) { _ = try selected(digit) }
        #expect(Set(error?.candidates ?? []) == Set([.snapshot(snapshot)] + same.map(Selection.state)))
        let within = ArchiverError.expect(.ambiguousSelector) {
            _ = try archive.state(SnapshotSelector(digit), titled: "game")
        }
        #expect(Set(within?.candidates ?? []) == Set(same.map(Selection.state)))
    }

    @Test("a state is compared with the latest of its title, and the latest with the one before")
    func comparison() throws {
        let states = try (0..<3).map { try save($0, as: "game") }
        let single = try save(9, as: "single")
        let first = try #require(try archive.comparison(of: states[0]))
        #expect(first.left == states[0] && first.right == states[2])
        let last = try #require(try archive.comparison(of: states[2]))
        #expect(last.left == states[1] && last.right == states[2])
        #expect(try archive.comparison(of: single) == nil)
    }

    @Test("states are listed by title, label and time")
    func listing() throws {
        let states = try (0..<4).map { try save($0, as: "game", label: $0 % 2 == 0 ? "even" : nil) }
        let other = try save(9, as: "other")
        #expect(try archive.states() == states + [other])
        #expect(try archive.states(StateQuery(title: "game", newestFirst: true, limit: 2)) == [states[3], states[2]])
        #expect(try archive.states(StateQuery(label: "even")) == [states[0], states[2]])
        let middle = StateQuery(since: states[1].time, until: states[2].time)
        #expect(try archive.states(middle) == [states[1], states[2]])
        #expect(try archive.states(StateQuery(title: "none")).isEmpty)
    }
}
