// Versioned states as parts: in lists, optionals, dictionaries, structures, undo histories and JSON files.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import Foundation
import Mementos
import SystemPackage
import TestTraits
import Testing

/// The same types in two versions of a program.
private enum Old {
    struct Album: Codable, Sendable, Equatable {
        var name: String
    }
    struct Shelf: Codable, Sendable, Equatable {
        var albums: [Album]
        var best: Album?
        var byYear: [Int: Album]
        var place = "hall"
    }
}

private enum New {
    struct Album: VersionedState, Codable, Sendable, Equatable {
        var title: String
        static let version = 2
        static let migrations = [Migration(from: 1) { $0.rename("name", to: "title") }]
    }
    struct Shelf: VersionedState, Codable, Sendable, Equatable {
        var albums: [Album]
        var best: Album?
        var byYear: [Int: Album]
        var room: String
        static let version = 2
        static let migrations = [Migration(from: 1) { $0.rename("place", to: "room") }]
    }
}

/// A third version of the type, encoded as another kind of value.
private enum Newest {
    struct Album: VersionedState, Codable, Sendable, Equatable {
        var titles: [String]
        init(_ titles: [String]) { self.titles = titles }
        init(from decoder: any Decoder) throws { titles = try decoder.singleValueContainer().decode([String].self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(titles)
        }
        static let version = 3
        static let migrations = [
            Migration(from: 1) { $0.rename("name", to: "title") },
            Migration(from: 2) { (old: New.Album) in [old.title] },
        ]
    }
}

private struct Add<Album: Codable & Sendable & Equatable>: Command, Codable, Equatable {
    let album: Album
    var name: String { "Add" }
    func execute(on state: inout [Album]) { state.append(album) }
    func undo(on state: inout [Album]) { state.removeLast() }
}

/// The next version of `Add`.
private struct Insert: Command, VersionedState, Codable {
    let item: New.Album
    var name: String { "Insert" }
    func execute(on state: inout [New.Album]) { state.append(item) }
    func undo(on state: inout [New.Album]) { state.removeLast() }
    static let version = 2
    static let migrations = [Migration(from: 1) { $0.rename("album", to: "item") }]
}

@Suite("Versions of parts", .blocking)
struct PartVersionTests {
    private let sandbox: Sandbox
    private var archive: Archive { sandbox.archive }
    private let old = Old.Shelf(
        albums: [Old.Album(name: "Blue"), Old.Album(name: "Horses")], best: Old.Album(name: "Hejira"),
        byYear: [1971: Old.Album(name: "Blue")])
    private let new = New.Shelf(
        albums: [New.Album(title: "Blue"), New.Album(title: "Horses")], best: New.Album(title: "Hejira"),
        byYear: [1971: New.Album(title: "Blue")], room: "hall")

    init() throws { sandbox = try Sandbox() }

    /// Saves `old`, loads it as `After`, saves that and loads it again; does the same with JSON files.
    private func expect<Before: Codable & Sendable, After: Codable & Sendable & Equatable>(
        _ old: Before, becomes new: After, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let url = URL(filePath: sandbox.base.directory.appending("state.json").string)
        try archive.save(old, as: "state")
        try StateFile.save(old, to: url)
        for _ in 1...2 {
            #expect(try archive.load(After.self, as: "state") == new, sourceLocation: sourceLocation)
            #expect(try StateFile.load(After.self, from: url) == new, sourceLocation: sourceLocation)
            try archive.save(new, as: "state")
            try StateFile.save(new, to: url)
        }
    }

    @Test("a list, an optional and a dictionary of older states are migrated")
    func collections() throws {
        try expect(old.albums, becomes: new.albums)
        try expect(old.best, becomes: new.best)
        try expect(Old.Album?.none, becomes: New.Album?.none)
        try expect(old.byYear, becomes: new.byYear)
        try expect(["a": [old.albums]], becomes: ["a": [new.albums]])
        try expect([old.best, nil], becomes: [new.best, nil])
    }

    @Test("a structure and its parts are migrated individually")
    func structures() throws {
        struct OldHouse: Codable, Sendable { var shelf: Old.Shelf }
        struct NewHouse: Codable, Sendable, Equatable { var shelf: New.Shelf }
        try expect(old, becomes: new)
        try expect(OldHouse(shelf: old), becomes: NewHouse(shelf: new))
    }

    @Test("an older part in a present state, and a present part in an older state, are migrated")
    func mixed() throws {
        struct Shelf<Album: Codable & Sendable & Equatable>: VersionedState, Codable, Sendable, Equatable {
            var albums: [Album]
            static var version: Int { 2 }
            static var migrations: [Migration] { [Migration(from: 1) { $0.rename("list", to: "albums") }] }
        }
        struct List<Album: Codable & Sendable>: Codable, Sendable { var list: [Album] }
        try expect(Shelf(albums: old.albums), becomes: Shelf(albums: new.albums))
        try expect(List(list: new.albums), becomes: Shelf(albums: new.albums))
        let newest = [Newest.Album(["Blue"]), Newest.Album(["Horses"])]
        try expect(List(list: old.albums), becomes: Shelf(albums: newest))
        try expect(List(list: new.albums), becomes: Shelf(albums: newest))
        try expect(List(list: newest), becomes: Shelf(albums: newest))
    }

    @Test("a migration from an older type makes a value without fields")
    func typed() throws {
        let newest = Newest.Album(["Blue"])
        try expect(New.Album(title: "Blue"), becomes: newest)
        try expect([New.Album(title: "Blue")], becomes: [newest])
        try expect([Old.Album(name: "Blue")], becomes: [newest])
        try expect([newest], becomes: [newest])
    }

    @Test("an undo history of older states continues with newer ones")
    func histories() throws {
        let history = UndoHistory<Add<Old.Album>>(of: Observable(old.albums))
        try history.execute(Add(album: Old.Album(name: "Court and Spark")))
        try archive.save(UndoOriginator(history).captureState(), as: "albums")
        let kept: UndoMemento<Add<New.Album>> = try archive.load(as: "albums")
        let later = UndoHistory<Add<New.Album>>(of: Observable(kept.state), position: kept.position)
        #expect(later.state.value.last == New.Album(title: "Court and Spark"))
        try later.undo()
        #expect(later.state.value == new.albums)
        try later.redo()
        #expect(later.state.value.last == New.Album(title: "Court and Spark"))
        let renamed: UndoMemento<Insert> = try archive.load(as: "albums")
        let latest = UndoHistory<Insert>(of: Observable(renamed.state), position: renamed.position)
        try latest.undo()
        #expect(latest.state.value == new.albums)
        try latest.redo()
        #expect(latest.state.value.last == New.Album(title: "Court and Spark"))
    }

    @Test("a program can be shipped with a JSON file of an older or of the present version")
    func shipped() throws {
        try sandbox.base.write("old.json", #"[{"name": "Blue"}, {"name": "Horses"}]"#)
        try sandbox.base.write("new.json", #"[{"@stateVersion": 2, "title": "Blue"}, {"name": "Horses"}]"#)
        for name in ["old.json", "new.json"] {
            let url = URL(filePath: sandbox.base.directory.appending(name).string)
            #expect(try archive.load([New.Album].self, as: name, startingFrom: url) == new.albums)
            #expect(try archive.load([New.Album].self, as: name) == new.albums)
        }
    }

    @Test("a part of a newer version is refused with its version and place, whatever contains it")
    func newer() throws {
        func refusal(_ body: () throws -> Void) -> String {
            do { try body() } catch let error as StateError {
                guard case .newerVersion(_, let version, let known) = error else { return "\(error)" }
                #expect(error.remedy == "use a newer version of the program; the state stays as it is")
                return "\(version) \(known) \(error.message)"
            } catch { return "\(error)" }
            return "nothing"
        }
        let newest = [Newest.Album(["Blue"])]
        let url = URL(filePath: sandbox.base.directory.appending("list.json").string)
        try archive.save(newest, as: "list")
        try StateFile.save(newest, to: url)
        func expect<Albums: Codable & Sendable>(_ type: Albums.Type, _ versions: String) throws {
            let words = refusal { _ = try archive.load(type, as: "list") }
            #expect(words.hasPrefix(versions + " the part 0 of the state ") && words.contains("of 'list'"), "\(words)")
            let others = refusal { _ = try StateFile.load(type, from: url) }
            #expect(others.hasPrefix(versions + " the part 0 of the state in "), "\(others)")
        }
        try expect([New.Album].self, "3 2")
        try expect([New.Album?].self, "3 2")
        // These types have no versions, but a part of version 3 is refused, whatever its shape.
        try expect([Old.Album].self, "3 1")
        try expect([Old.Album?].self, "3 1")
        try expect([[String]].self, "3 1")
        try expect([[String: String]].self, "3 1")
        try archive.save(new.albums, as: "list")
        try StateFile.save(new.albums, to: url)
        try expect([Old.Album].self, "2 1")
        #expect(try archive.load([New.Album].self, as: "list") == new.albums)
        #expect(try archive.history(of: "list").count == 2)
    }

    @Test("a part that cannot be migrated is reported with its place and the last version reached")
    func failures() throws {
        struct Lost: VersionedState, Codable, Sendable {
            var title: String
            static let version = 3
            static let migrations = [Migration(from: 2) { _ in }]
        }
        struct Wrong: VersionedState, Codable, Sendable {
            var name: Int
            static let version = 2
            static let migrations = [Migration(from: 1) { _ in }]
        }
        struct Failing: VersionedState, Codable, Sendable {
            var name: String
            static let version = 2
            static let migrations = [Migration(from: 1) { _ in throw SystemFailure("migrate", "x") }]
        }
        func failure(_ body: () throws -> Void) -> StateError? {
            do { try body() } catch { return error as? StateError }
            return nil
        }
        try archive.save(["a": old.albums], as: "lists")
        let place = "the part a.0 of the state "
        let lost = failure { _ = try archive.load([String: [Lost]].self, as: "lists") }
        guard case .noMigration(_, from: 1, to: 3)? = lost, lost?.message.contains(place) == true else {
            return #expect(Bool(false), "\(String(describing: lost))")
        }
        let failing = failure { _ = try archive.load([String: [Failing]].self, as: "lists") }
        guard case .failedMigration(_, from: 1, _)? = failing, failing?.message.contains(place) == true else {
            return #expect(Bool(false), "\(String(describing: failing))")
        }
        let wrong = failure { _ = try archive.load([String: [Wrong]].self, as: "lists") }
        guard case .undecodable? = wrong, wrong?.message.contains(place) == true,
            wrong?.message.contains("name") == true
        else { return #expect(Bool(false), "\(String(describing: wrong))") }
    }

    @Test("an enumeration and its payloads are migrated")
    func enumerations() throws {
        enum OldShelf: Codable, Sendable { case empty, one(Old.Album), many(name: String, albums: [Old.Album]) }
        enum NewShelf: Codable, Sendable, Equatable {
            case empty, one(New.Album), many(name: String, albums: [New.Album])
        }
        enum Medium: Codable, Sendable { case vinyl(inches: Int), tape }
        enum NewMedium: VersionedState, Codable, Sendable, Equatable {
            case record(inches: Int), tape
            static let version = 2
            static let migrations = [Migration(from: 1) { $0.rename("vinyl", to: "record") }]
        }
        enum Size: String, Codable, Sendable { case small, huge }
        enum NewSize: Int, VersionedState, Codable, Sendable {
            case small = 1, large
            static let version = 2
            static let migrations = [Migration(from: 1) { $0 = $0.text == "huge" ? 2 : 1 }]
        }
        try expect(
            [OldShelf.empty, .one(old.albums[0]), .many(name: "n", albums: old.albums)],
            becomes: [NewShelf.empty, .one(new.albums[0]), .many(name: "n", albums: new.albums)])
        try expect([Medium.vinyl(inches: 12), .tape], becomes: [NewMedium.record(inches: 12), .tape])
        try expect(Medium.vinyl(inches: 7), becomes: NewMedium.record(inches: 7))
        try expect([Size.huge, .small], becomes: [NewSize.large, .small])
        try expect(Size.huge, becomes: NewSize.large)
        try expect(["a": Size.huge], becomes: ["a": NewSize.large])
    }

    @Test("a class and its superclass share one version, and the superclass's parts have their own")
    func classes() throws {
        class Base<Album: Codable>: Codable {
            var albums: [Album] = []
            init() {}
        }
        final class Room<Album: Codable>: Base<Album> {
            var name = ""
            private enum CodingKeys: String, CodingKey { case name }
            override init() { super.init() }
            required init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                name = try container.decode(String.self, forKey: .name)
                try super.init(from: container.superDecoder())
            }
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(name, forKey: .name)
                try super.encode(to: container.superEncoder())
            }
        }
        struct House<Album: Codable>: Codable, @unchecked Sendable { var rooms: [Room<Album>] }
        let room = Room<Old.Album>()
        (room.name, room.albums) = ("hall", old.albums)
        let url = URL(filePath: sandbox.base.directory.appending("house.json").string)
        try archive.save(House(rooms: [room]), as: "house")
        try StateFile.save(House(rooms: [room]), to: url)
        for _ in 1...2 {
            let loaded = [
                try archive.load(House<New.Album>.self, as: "house"),
                try StateFile.load(House<New.Album>.self, from: url),
            ]
            for house in loaded {
                #expect(house.rooms.map(\.name) == ["hall"] && house.rooms.first?.albums == new.albums)
            }
            try archive.save(loaded[0], as: "house")
            try StateFile.save(loaded[1], to: url)
        }
    }

    @Test("versioned parts two levels deep are migrated individually")
    func nested() throws {
        struct OldHouse: Codable, Sendable { var shelves: [String: [Old.Shelf]], owner = "x" }
        struct NewHouse: VersionedState, Codable, Sendable, Equatable {
            var shelves: [String: [New.Shelf]], tenant: String
            static let version = 2
            // A migration can also reach the parts below, whatever their version.
            static let migrations = [
                Migration(from: 1) { house in
                    house.rename("owner", to: "tenant")
                    house.change("shelves") { $0.changeEach { $0.changeEach { $0["place"] = "hall" } } }
                }
            ]
        }
        let house = NewHouse(shelves: ["a": [new, new]], tenant: "x")
        try expect([OldHouse(shelves: ["a": [old, old]])], becomes: [house])
        struct Mixed: Codable, Sendable { var shelves: [String: [New.Shelf]], owner = "x" }
        try expect([Mixed(shelves: ["a": [new, new]])], becomes: [house])
    }

    @Test("dates, URLs, data and numbers with more digits than a Double are exact in a migrated part")
    func exactness() throws {
        struct Price: Codable, Sendable, Equatable {
            var amount: Decimal, rate: Double, at: Date, link: URL, picture: Data, zero: Double, most: UInt64
        }
        struct NewPrice: VersionedState, Codable, Sendable, Equatable {
            var price: Decimal, rate: Double, at: Date, link: URL, picture: Data, zero: Double, most: UInt64
            static let version = 2
            static let migrations = [Migration(from: 1) { $0.rename("amount", to: "price") }]
        }
        let date = Date(timeIntervalSinceReferenceDate: 0.1)
        let link = try #require(URL(string: "https://example.com/a%20b?c#d"))
        let amount = try #require(Decimal(string: "1234567890.0987654321"))
        let old = Price(
            amount: amount, rate: 0.12345678901234567890123, at: date, link: link, picture: Data([0, 255]), zero: -0.0,
            most: .max)
        let new = NewPrice(
            price: amount, rate: old.rate, at: date, link: link, picture: old.picture, zero: -0.0, most: .max)
        try expect([old], becomes: [new])
        try expect(old, becomes: new)
        let text = """
            [{"amount": 1234567890.0987654321, "rate": 0.12345678901234567890123, "at": 0.1, "picture": "AP8=", \
            "link": "https://example.com/a%20b?c#d", "zero": -0.0, "most": 18446744073709551615}]
            """
        try sandbox.base.write("prices.json", text)
        let url = URL(filePath: sandbox.base.directory.appending("prices.json").string)
        let prices = try StateFile.load([NewPrice].self, from: url)
        #expect(prices == [new] && prices.first?.zero.sign == .minus)
        #expect(try archive.load([NewPrice].self, as: "prices", startingFrom: url) == [new])
    }

    @Test("equal states with versioned parts have equal bytes")
    func equalBytes() throws {
        let first = try archive.save(new, as: "shelf")
        #expect(try archive.save(new, as: "shelf") == first)
        let (one, other) = (try archive.save([new], as: "one"), try archive.save([new], as: "other"))
        #expect(
            try archive.content(of: state("one")).text(pretty: true)
                == archive.content(of: state("other")).text(pretty: true))
        #expect(one.bytes == other.bytes)
    }

    private func state(_ title: String) throws -> ListedState {
        try #require(try archive.state(.latest, titled: title))
    }

    @Test("StateFile reads what the program exports, versions included")
    func exports() throws {
        try archive.save([new], as: "shelves")
        try archive.save(new, as: "shelf")
        let (list, single) = (sandbox.base.full("list.json"), sandbox.base.full("single.json"))
        _ = try archive.export(state("shelves"), to: list)
        _ = try archive.export(state("shelf"), to: single)
        #expect(try StateFile.load([New.Shelf].self, from: URL(filePath: list.string)) == [new])
        #expect(try StateFile.load(New.Shelf.self, from: URL(filePath: single.string)) == new)
        let other = URL(filePath: sandbox.base.full("other.json").string)
        try StateFile.save(new, to: other)
        #expect(try Data(contentsOf: other) + Data("\n".utf8) == Data(contentsOf: URL(filePath: single.string)))
    }

    @Test("a program's own keys that look like version keys are loaded unchanged")
    func keys() throws {
        struct Own: VersionedState, Codable, Sendable, Equatable {
            var values: [String: Int], version = 7, content = 8
            enum CodingKeys: String, CodingKey { case values, version = "@stateVersion", content = "@state" }
            static let version = 2
            static let migrations: [Migration] = []
        }
        let state = ["@stateVersion": 2, "@state": 1, "@@state": 3, "state": 4, "@stateVersions": 5, "@": 6]
        try expect(state, becomes: state)
        try expect([state], becomes: [state])
        let own = Own(values: state)
        for _ in 1...2 {
            try archive.save([own], as: "own")
            #expect(try archive.load([Own].self, as: "own") == [own])
            let url = URL(filePath: sandbox.base.directory.appending("own.json").string)
            try StateFile.save(own, to: url)
            #expect(try StateFile.load(Own.self, from: url) == own)
        }
    }

    /// The bytes of the state `title`, whose own version is 1.
    private func bytes(_ title: String) throws -> [UInt8] { try archive.content(of: state(title)).bytes }

    @Test("parts with versions have the bytes that the format document specifies")
    func bytes() throws {
        struct Two: VersionedState, Codable, Sendable {
            var a = 1
            static let version = 2
            static let migrations: [Migration] = []
        }
        struct Three: VersionedState, Codable, Sendable {
            init() {}
            init(from decoder: any Decoder) throws { _ = try decoder.singleValueContainer().decode(Int.self) }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(7)
            }
            static let version = 3
            static let migrations: [Migration] = []
        }
        struct Both: Codable, Sendable {
            init() {}
            init(from decoder: any Decoder) throws {
                var list = try decoder.unkeyedContainer()
                _ = (try list.decode(Two.self), try list.decode(Three.self))
            }
            func encode(to encoder: any Encoder) throws {
                var list = encoder.unkeyedContainer()
                try list.encode(Two())
                try list.encode(Three())
            }
        }
        try archive.save(Both(), as: "both")
        let version: [UInt8] = [0x6d] + Array("@stateVersion".utf8)
        #expect(
            try bytes("both") == [0x82, 0xa2, 0x61, 0x61, 0x01] + version + [0x02, 0xa2, 0x66] + Array("@state".utf8)
                + [0x07] + version + [0x03])
        _ = try archive.load(Both.self, as: "both")
        #expect(
            try archive.content(of: state("both")).text(pretty: false)
                == #"[{"@stateVersion":2,"a":1},{"@state":7,"@stateVersion":3}]"#)
        try archive.save(Two(), as: "two")
        #expect(try state("two").bytes == 4)
        #expect(try archive.content(of: state("two")).text(pretty: false) == #"{"@stateVersion":2,"a":1}"#)
        try archive.save(["@state": 1, "@@stateVersion": 2], as: "keys")
        #expect(
            try bytes("keys") == [0xa2, 0x67] + Array("@@state".utf8) + [0x01, 0x6f] + Array("@@@stateVersion".utf8)
                + [0x02])
    }
}
