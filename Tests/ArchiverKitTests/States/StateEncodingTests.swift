// Saved states have the bytes that the format document specifies, type by type.

import ArchiveFormat
import ArchiverKit
import Foundation
import Mementos
import TestSupport
import TestTraits
import Testing

@testable import Restoring

@Suite("The bytes of states", .blocking)
struct StateEncodingTests {
    private let sandbox: Sandbox
    private var archive: Archive { sandbox.archive }

    init() throws { sandbox = try Sandbox() }

    /// Saves `state`, compares the bytes with `digits`, and loads it again.
    private func expect<State: Codable & Sendable & Equatable>(
        _ state: State, is digits: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let bytes = try saved(state)
        #expect(
            bytes == hex(digits), "\(Data(bytes).map { String(format: "%02x", $0) }.joined())",
            sourceLocation: sourceLocation)
        #expect(try archive.load(State.self, as: "state") == state, sourceLocation: sourceLocation)
    }

    private func saved(_ state: some Codable & Sendable) throws -> [UInt8] {
        try archive.save(state, as: "state")
        return try archive.content(of: #require(try archive.state(.latest, titled: "state"))).bytes
    }

    /// The bytes of `text` with its head, as hex digits.
    private func text(_ text: String) -> String {
        ([0x60 + UInt8(text.utf8.count)] + Array(text.utf8)).map { String(format: "%02x", $0) }.joined()
    }

    private func hex(_ digits: String) -> [UInt8] {
        let digits = digits.filter { $0 != " " }
        return stride(from: 0, to: digits.count, by: 2).compactMap { start in
            UInt8(digits.dropFirst(start).prefix(2), radix: 16)
        }
    }

    @Test("integers of any type are encoded by their value in at most 64 bits; wider ones are refused")
    func integers() throws {
        try expect(0, is: "00")
        try expect(UInt8(200), is: "18c8")
        try expect(Int16(-200), is: "38c7")
        try expect(UInt64.max, is: "1bffffffffffffffff")
        try expect(Int64.min, is: "3b7fffffffffffffff")
        #expect { try archive.save(Int128(1), as: "wide") } throws: { error in
            guard case .unencodable? = error as? StateError else { return false }
            return true
        }
        #expect(throws: StateError.self) { try archive.save(["a": UInt128.max], as: "wide") }
        #expect(try archive.history(of: "wide").isEmpty)
    }

    @Test("floating-point numbers are never encoded as integers, and have the shortest exact form")
    func numbers() throws {
        try expect(1.0, is: "f93c00")
        try expect(-0.0, is: "f98000")
        try expect(Float(0.1), is: "fa3dcccccd")
        try expect(0.1, is: "fb3fb999999999999a")
        try expect([Double.infinity, -.infinity], is: "82 f97c00 f9fc00")
        #expect(try saved([Double.nan]) == hex("81 f97e00"))
    }

    @Test("true, false, texts and data have their own kinds of item; texts are unchanged UTF-8")
    func plain() throws {
        try expect([true, false], is: "82 f5 f4")
        try expect("e\u{301}", is: "63 65cc81")
        try expect(Data([0, 255]), is: "42 00ff")
        try expect(ByteString([0, 255]), is: "42 00ff")
        try expect([ByteString([0x61])], is: "81 41 61")
        let id = ChunkID(hashing: [])
        try expect(id, is: "5820" + id.hex)
        struct Name: VersionedState, Codable, Sendable, Equatable {
            var bytes: ByteString
            init(_ bytes: ByteString) { self.bytes = bytes }
            init(from decoder: any Decoder) throws { bytes = try ByteString(from: decoder) }
            func encode(to encoder: any Encoder) throws { try bytes.encode(to: encoder) }
            static let version = 2
            static let migrations = [Migration(from: 1) { _ in }]
        }
        try expect(
            [Name(ByteString([0xff]))], is: "81 a2 \(text("@state")) 41ff \(text("@stateVersion")) 02")
        try expect([UInt8]([0, 255]), is: "82 00 18ff")
    }

    @Test("structures are maps with the names of their keys; a nil optional property is omitted")
    func structures() throws {
        struct Game: Codable, Sendable, Equatable {
            var level = 1, name: String?
            enum CodingKeys: String, CodingKey { case level, name = "n" }
        }
        struct Nothing: Codable, Sendable, Equatable {}
        struct Point: Codable, Sendable, Equatable {
            var x = 1, y = 2
            enum CodingKeys: Int, CodingKey { case y = 0, x = 1 }
        }
        try expect(Game(), is: "a1 \(text("level")) 01")
        try expect(Game(name: "x"), is: "a2 \(text("n")) \(text("x")) \(text("level")) 01")
        try expect(Nothing(), is: "a0")
        try expect(Point(), is: "a2 00 02 01 01")
    }

    @Test("an optional is its value or null; lists and dictionaries contain the null")
    func optionals() throws {
        try expect(Int?.none, is: "f6")
        try expect(Int?.some(3), is: "03")
        try expect([1, nil], is: "82 01 f6")
        try expect(["a": Int?.none], is: "a1 6161 f6")
        #expect(try saved([Int??.some(.none)]) == hex("81 f6"))
    }

    @Test("enumerations are their raw values, or maps from the case to its payload")
    func enumerations() throws {
        enum Color: String, Codable, Sendable { case red }
        enum Level: Int, Codable, Sendable { case high = 7 }
        enum Place: Codable, Sendable, Equatable {
            case nowhere, at(Int, Int), named(name: String, Int), maybe(Int?)
        }
        try expect(Color.red, is: text("red"))
        try expect(Level.high, is: "07")
        try expect(Place.nowhere, is: "a1 \(text("nowhere")) a0")
        try expect(Place.at(1, 2), is: "a1 \(text("at")) a2 \(text("_0")) 01 \(text("_1")) 02")
        try expect(
            Place.named(name: "x", 3), is: "a1 \(text("named")) a2 \(text("_1")) 03 \(text("name")) \(text("x"))")
        try expect(Place.maybe(nil), is: "a1 \(text("maybe")) a0")
    }

    @Test("dictionaries of texts and integers are maps; others, and sets, are arrays")
    func dictionaries() throws {
        enum Color: String, Codable, Sendable { case red }
        enum Known: String, Codable, CodingKeyRepresentable, Sendable { case red }
        try expect(["b": 1, "aa": 2], is: "a2 6162 01 626161 02")
        try expect([10: 1, -1: 2], is: "a2 0a 01 20 02")
        // A text that is the plain spelling of an integer is encoded as that integer.
        try expect(["7": 1, "07": 2, "x": 3], is: "a3 07 01 6178 03 623037 02")
        try expect([Known.red: 1], is: "a1 \(text("red")) 01")
        try expect([Color.red: 1], is: "82 \(text("red")) 01")
        try expect([0.5: 1], is: "82 f93800 01")
        try expect([UInt8(5): 1], is: "82 05 01")
        try expect(Set([5]), is: "81 05")
    }

    @Test("dates, URLs, UUIDs, decimals, ranges and durations")
    func foundation() throws {
        try expect(Date(timeIntervalSinceReferenceDate: 1.5), is: "f93e00")
        try expect(Date(timeIntervalSince1970: 0), is: "fa ce693f22")
        let url = try #require(URL(string: "https://h/a%20b"))
        try expect(url, is: text("https://h/a%20b"))
        try expect([url], is: "81" + text("https://h/a%20b"))
        let uuid = try #require(UUID(uuidString: "e621e1f8-c36c-495a-93fc-0c247a3e6e5f"))
        try expect(uuid, is: "7824" + text("E621E1F8-C36C-495A-93FC-0C247A3E6E5F").dropFirst(2))
        let decimal = try #require(Decimal(string: "-123456.78"))
        try expect(decimal, is: "a5 00 21 01 02 02 f5 03 f5 04 88 19614e 18bc 00 00 00 00 00 00")
        try expect(1..<3, is: "82 01 03")
        try expect(1...3, is: "82 01 03")
        try expect(Duration.nanoseconds(1), is: "82 00 1a3b9aca00")
    }

    class Base: Codable {
        var a = 1
        init() {}
    }

    final class Derived: Base, @unchecked Sendable {
        var b = 2
        enum CodingKeys: String, CodingKey { case b }
        override init() { super.init() }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            b = try container.decode(Int.self, forKey: .b)
            try super.init(from: container.superDecoder())
        }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try super.encode(to: container.superEncoder())
            try container.encode(b, forKey: .b)
        }
    }

    @Test("a superclass is the member super of its subclass")
    func classes() throws {
        #expect(try saved(Derived()) == hex("a2 6162 02 657375706572 a1 6161 01"))
        let loaded = try archive.load(Derived.self, as: "state")
        #expect(loaded.a == 1 && loaded.b == 2)
    }
}
