// States that older versions of a program saved are loaded by newer ones, and the reverse.

import ArchiverKit
import Mementos
import SystemPackage
import TestSupport
import TestTraits
import Testing

/// One state in three versions of a program.
private enum Player {
    struct First: Codable, Sendable, Equatable {
        var name: String
        var points: Int
        var lives: String
        var legacy = true
    }

    struct Second: VersionedState, Codable, Sendable, Equatable {
        var name: String
        var score: Int
        var lives: Int
        var level: Int
        static let version = 2
        static let migrations = [firstToSecond]
    }

    struct Third: VersionedState, Codable, Sendable, Equatable {
        struct Progress: Codable, Sendable, Equatable {
            var score: Double
            var level: Int
        }
        var name: String
        var lives: Int
        var progress: Progress
        var nickname: String?
        static let version = 3
        static let migrations = [firstToSecond, secondToThird]
    }

    static let firstToSecond = Migration(from: 1) { state in
        state.rename("points", to: "score")
        state.change("lives") { lives in lives = .integer(Int64(lives.text ?? "") ?? 3) }
        state.remove("legacy")
        state["level"] = 1
    }

    static let secondToThird = Migration(from: 2) { (old: Second) in
        Third(name: old.name, lives: old.lives, progress: .init(score: Double(old.score), level: old.level))
    }
}

@Suite("Migrating states", .blocking)
struct MigrationTests {
    private let sandbox: Sandbox
    private var archive: Archive { sandbox.archive }
    private let first = Player.First(name: "Ada", points: 9001, lives: "2")

    init() throws { sandbox = try Sandbox() }

    private func failure(_ body: () throws -> Void) -> StateError? {
        do { try body() } catch { return error as? StateError }
        return nil
    }

    @Test("an older state is migrated step by step when it is loaded, and stays unchanged in the archive")
    func chain() throws {
        try archive.save(first, as: "player")
        let size = try sandbox.base.directory.appending("archive/segments").bytesBelow()
        let second = Player.Second(name: "Ada", score: 9001, lives: 2, level: 1)
        #expect(try archive.load(Player.Second.self, as: "player") == second)
        let third = Player.Third(name: "Ada", lives: 2, progress: .init(score: 9001, level: 1))
        #expect(try archive.load(Player.Third.self, as: "player") == third)
        #expect(try sandbox.base.directory.appending("archive/segments").bytesBelow() == size)
        #expect(try archive.load(Player.First.self, as: "player") == first)
        try archive.save(second, as: "player")
        #expect(try archive.load(Player.Third.self, as: "player") == third)
        try archive.save(third, as: "player")
        #expect(try archive.load(Player.Third.self, as: "player", at: "latest~2") == third)
        #expect(try archive.history(of: "player").count == 3)
    }

    @Test("a new optional property, and one with a default in init(from:), need no migration")
    func additions() throws {
        struct Before: Codable, Sendable { var name = "Ada" }
        struct After: Codable, Sendable, Equatable {
            var name: String
            var nickname: String?
            var stars: Int
            init(name: String, stars: Int) { (self.name, self.stars) = (name, stars) }
            init(from decoder: any Decoder) throws {
                let fields = try decoder.container(keyedBy: CodingKeys.self)
                name = try fields.decode(String.self, forKey: .name)
                nickname = try fields.decodeIfPresent(String.self, forKey: .nickname)
                stars = try fields.decodeIfPresent(Int.self, forKey: .stars) ?? 5
            }
        }
        try archive.save(Before(), as: "player")
        #expect(try archive.load(After.self, as: "player") == After(name: "Ada", stars: 5))
    }

    @Test("a state of a newer version is refused with both version numbers, and stays unchanged")
    func newer() throws {
        let third = Player.Third(name: "Ada", lives: 2, progress: .init(score: 1, level: 1))
        let saved = try archive.save(third, as: "player")
        let error = failure { _ = try archive.load(Player.Second.self, as: "player") }
        guard case .newerVersion(.saved(_, title: "player"), version: 3, known: 2)? = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(error?.description.contains("version 3") == true)
        guard case .newerVersion? = failure({ _ = try archive.load(as: "player", startingFrom: first) }) else {
            return #expect(Bool(false), "an older program started anew")
        }
        #expect(try archive.history(of: "player") == [saved])
        #expect(try archive.load(Player.Third.self, as: "player") == third)
    }

    @Test("an older program that saves anyway loses no state of the newer one")
    func olderSaves() throws {
        let third = Player.Third(name: "Ada", lives: 2, progress: .init(score: 1, level: 1))
        try archive.save(third, as: "player")
        try archive.save(first, as: "player")
        #expect(try archive.load(Player.Third.self, as: "player", at: "latest~1") == third)
    }

    @Test("a missing migration and a failing one are reported with the version at which they stop")
    func failures() throws {
        struct Lost: VersionedState, Codable, Sendable {
            var name: String
            static let version = 3
            static let migrations = [Migration(from: 2) { _ in }]
        }
        struct Failing: VersionedState, Codable, Sendable {
            var name: String
            static let version = 2
            static let migrations = [Migration(from: 1) { _ in throw SystemFailure("migrate", "x") }]
        }
        struct Wrong: VersionedState, Codable, Sendable {
            var name: Int
            static let version = 2
            static let migrations = [Migration(from: 1) { _ in }]
        }
        let saved = try archive.save(first, as: "player")
        guard case .noMigration(_, from: 1, to: 3)? = failure({ _ = try archive.load(Lost.self, as: "player") }) else {
            return #expect(Bool(false), "no way was found")
        }
        guard case .failedMigration(_, from: 1, _)? = failure({ _ = try archive.load(Failing.self, as: "player") })
        else {
            return #expect(Bool(false), "the migration failed")
        }
        let error = failure { _ = try archive.load(Wrong.self, as: "player") }
        guard case .undecodable? = error else { return #expect(Bool(false), "decoded") }
        #expect(error?.description.contains("name") == true)
        #expect(try archive.history(of: "player") == [saved])
    }

    @Test("the widest migrations are used, and only those that lead to the version")
    func ways() {
        func migration(_ from: Int, _ to: Int) -> Migration { Migration(from: from, to: to) { _ in } }
        let all = [migration(1, 2), migration(2, 3), migration(1, 3), migration(3, 4), migration(1, 9)]
        func way(_ from: Int, _ to: Int) -> [Int]? { Migration.way(from: from, to: to, by: all)?.map(\.to) }
        #expect(way(1, 4) == [3, 4] && way(1, 2) == [2] && way(2, 4) == [3, 4] && way(4, 4) == [])
        #expect(way(4, 5) == nil && way(1, 9) == [9] && way(2, 9) == nil)
    }

    @Test("a migration changes fields in place, at any depth")
    func fields() {
        var state: StateValue = [
            "items": [["price": 1], ["price": 2.5]], "names": ["a": "x", 7: "y"], "none": nil, "flag": true,
        ]
        state.change("items") { items in
            items.changeEach { item in item.change("price") { $0 = .text("\($0.number ?? 0)") } }
        }
        state.change("names") { names in names.changeEach { $0 = .text(($0.text ?? "") + "!") } }
        state.rename("flag", to: "isOn")
        state.rename("absent", to: "present")
        state.remove("none")
        state["deep"] = .fields([:])
        state["deep"]?["er"] = [1, .unsigned(.max), .bytes([1])]
        #expect(
            state == [
                "items": [["price": "1.0"], ["price": "2.5"]], "names": ["a": "x!", 7: "y!"], "isOn": true,
                "deep": ["er": [1, .unsigned(.max), .bytes([1])]],
            ])
        #expect(state["deep"]?["er"]?.list?.first?.integer == 1 && state["isOn"]?.boolean == true)
        #expect(state["absent"] == nil && state["isOn"]?["x"] == nil)
    }

    @Test("a migration preserves the fields that it does not change")
    func untouched() throws {
        struct Old: Codable, Sendable {
            var numbers: [Double]; var map: [Int: [UInt8]]; var large: UInt64; var text: String?
        }
        struct New: VersionedState, Codable, Sendable, Equatable {
            var numbers: [Double]
            var map: [Int: [UInt8]]
            var large: UInt64
            var text: String?
            var added: Bool
            static let version = 2
            static let migrations = [Migration(from: 1) { $0["added"] = false }]
        }
        let old = Old(numbers: [0, -0.0, 1.5, .infinity, 1e300], map: [-5: [1], 7: []], large: .max, text: nil)
        try archive.save(old, as: "state")
        let new = New(numbers: old.numbers, map: old.map, large: .max, text: nil, added: false)
        #expect(try archive.load(New.self, as: "state") == new)
    }
}
