// Codable values through the CBOR coders: every kind of container, and errors with their coding paths.

import ArchiveFormat
import Foundation
import TestSupport
import Testing

@Suite("CBOR through Codable")
struct CBORCodableTests {
    struct Everything: Codable, Equatable {
        var int = -1, int8 = Int8.min, int16 = Int16.min, int32 = Int32.min, int64 = Int64.min
        var uint = UInt.max, uint8 = UInt8.max, uint16 = UInt16.max, uint32 = UInt32.max, uint64 = UInt64.max
        var float = Float(0.1), double = 0.1, boolean = true, text = "e\u{301}"
        var some: Int? = 1, none: Int?
        var bytes = ByteString([0, 255])
        var array = [[1], []], dictionary = ["1": 1, "01": 2, "+1": 3, "x": 4], numbers = [-5: "a", 5: "b"]
        var optionals: [Int?] = [1, nil, 3]
    }

    @Test("every kind of property reads back as it was written")
    func everything() throws {
        let bytes = try CBOREncoder().encode(Everything())
        #expect(try CBORDecoder().decode(Everything.self, from: bytes) == Everything())
    }

    @Test("a coding key with an integer value becomes an integer key")
    func integerKeys() throws {
        struct Point: Codable, Equatable {
            var x = 1, y = 2
            enum CodingKeys: Int, CodingKey { case y = 0, x = 1 }
        }
        #expect(try CBOREncoder().encode(Point()) == hex("a2 0002 0101"))
        #expect(try CBORDecoder().decode(Point.self, from: hex("a2 0005 0106")) == Point(x: 6, y: 5))
    }

    @Test("a dictionary with text keys can also be read from integer keys")
    func textThatLooksLikeANumber() throws {
        #expect(try CBORDecoder().decode([String: Int].self, from: hex("a2 0705 613106")) == ["7": 5, "1": 6])
    }

    class Base: Codable {
        var a = 1
    }

    final class Derived: Base {
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

    @Test("a superclass has a container of its own")
    func superclass() throws {
        let value = Derived()
        value.a = 3
        let bytes = try CBOREncoder().encode(value)
        #expect(bytes == hex("a2 616202 657375706572 a1616103"))
        let read = try CBORDecoder().decode(Derived.self, from: bytes)
        #expect(read.a == 3 && read.b == 2)
    }

    struct Nested: Codable, Equatable {
        var a = 1, b = [2, 3]
        enum Outer: String, CodingKey { case inner, list }
        enum Inner: String, CodingKey { case a }
        init() {}
        init(from decoder: any Decoder) throws {
            let outer = try decoder.container(keyedBy: Outer.self)
            a = try outer.nestedContainer(keyedBy: Inner.self, forKey: .inner).decode(Int.self, forKey: .a)
            var list = try outer.nestedUnkeyedContainer(forKey: .list)
            var first = try list.nestedUnkeyedContainer()
            b = [try first.decode(Int.self)]
            b.append(try list.nestedContainer(keyedBy: Inner.self).decode(Int.self, forKey: .a))
            guard list.isAtEnd, first.isAtEnd else { throw FormatError.truncated }
        }
        func encode(to encoder: any Encoder) throws {
            var outer = encoder.container(keyedBy: Outer.self)
            var inner = outer.nestedContainer(keyedBy: Inner.self, forKey: .inner)
            var list = outer.nestedUnkeyedContainer(forKey: .list)
            var first = list.nestedUnkeyedContainer()
            try first.encode(b[0])
            var second = list.nestedContainer(keyedBy: Inner.self)
            try second.encode(b[1], forKey: .a)
            try inner.encode(a, forKey: .a)
        }
    }

    @Test("nested containers may be filled in any order")
    func nested() throws {
        let bytes = try CBOREncoder().encode(Nested())
        #expect(bytes == hex("a2 646c697374 82 8102 a1616103 65696e6e6572 a1616101"))
        #expect(try CBORDecoder().decode(Nested.self, from: bytes) == Nested())
    }

    @Test("equal dictionaries give equal bytes")
    func determinism() throws {
        let keys = (0..<200).map { "key \($0)" }
        let forward = Dictionary(uniqueKeysWithValues: keys.map { ($0, $0.count) })
        var backward = [String: Int]()
        for key in keys.reversed() { backward[key] = key.count }
        #expect(try CBOREncoder().encode(forward) == CBOREncoder().encode(backward))
    }

    @Test("texts that are canonically equivalent but have different bytes are different keys")
    func keysAreBytes() throws {
        let bytes = hex("a2 6165cc81 01".replacing("6165cc81", with: "6365cc81") + "62c3a902")
        let composed = hex("a2 62c3a902 6365cc8101")
        #expect(try reencoded(composed) == composed)
        #expect(throws: FormatError.self) { try reencoded(bytes) }
    }

    struct Outer: Codable { var list: [Inner] }
    struct Inner: Codable { var number: UInt8 }

    /// The coding path of the error from decoding `digits`.
    private func path(_ digits: String) -> (path: [String], isCorrupted: Bool)? {
        do {
            _ = try CBORDecoder().decode(Outer.self, from: hex(digits))
            return nil
        } catch DecodingError.dataCorrupted(let context) {
            return (context.codingPath.map(\.stringValue), true)
        } catch DecodingError.typeMismatch(_, let context), DecodingError.keyNotFound(_, let context),
            DecodingError.valueNotFound(_, let context)
        {
            return (context.codingPath.map(\.stringValue), false)
        } catch {
            return nil
        }
    }

    @Test("an error has the coding path of its place")
    func errorPaths() {
        let place = ["list", "Index 1", "number"]
        let good = "a1 666e756d626572 01"
        let outOfRange = path("a1 646c697374 82 \(good) a1 666e756d626572 190100")
        #expect(outOfRange?.path == place && outOfRange?.isCorrupted == true)
        let negative = path("a1 646c697374 82 \(good) a1 666e756d626572 20")
        #expect(negative?.path == place && negative?.isCorrupted == true)
        let text = path("a1 646c697374 82 \(good) a1 666e756d626572 6161")
        #expect(text?.path == place && text?.isCorrupted == false)
        let null = path("a1 646c697374 82 \(good) a1 666e756d626572 f6")
        #expect(null?.path == place && null?.isCorrupted == false)
        let missing = path("a1 646c697374 82 \(good) a0")
        #expect(missing?.path == Array(place.dropLast()) && missing?.isCorrupted == false)
        let garbage = path("ff")
        #expect(garbage?.path == [] && garbage?.isCorrupted == true)
    }

    @Test("a number that Float cannot represent is an error and is not rounded")
    func floatOutOfRange() throws {
        #expect(throws: DecodingError.self) { try CBORDecoder().decode(Float.self, from: CBOREncoder().encode(0.1)) }
    }

    @Test("an integer is read as a floating-point number if that is exact")
    func integersAsNumbers() throws {
        #expect(try CBORDecoder().decode(Double.self, from: hex("01")) == 1)
        #expect(try CBORDecoder().decode(Double.self, from: hex("20")) == -1)
        #expect(try CBORDecoder().decode(Float.self, from: hex("1864")) == 100)
        for text in ["1b 0020000000000001", "3b 0020000000000001", "6131", "f5", "f6"] {
            #expect(throws: DecodingError.self, "\(text)") { try CBORDecoder().decode(Double.self, from: hex(text)) }
        }
        #expect(throws: DecodingError.self) { try CBORDecoder().decode(Float.self, from: hex("1a 01000001")) }
        #expect(throws: DecodingError.self) { try CBORDecoder().decode(Int.self, from: hex("f93c00")) }
    }

    @Test("Data becomes a byte string, and an array of numbers can be read as Data too")
    func data() throws {
        let data = Data([0, 255])
        #expect(try CBOREncoder().encode(data) == hex("42 00ff"))
        #expect(try CBOREncoder().encode(["a": Data?.some(data)]) == hex("a1 6161 42 00ff"))
        #expect(try CBORDecoder().decode(Data.self, from: hex("42 00ff")) == data)
        #expect(try CBORDecoder().decode([Data?].self, from: hex("82 42 00ff f6")) == [data, nil])
        #expect(try CBORDecoder().decode(Data.self, from: hex("82 00 18ff")) == data)
    }

    struct Box: Codable {
        var inner: [Box]
        init(depth: Int) { inner = depth > 0 ? [Box(depth: depth - 1)] : [] }
        init(from decoder: any Decoder) throws { inner = try [Box](from: decoder) }
        func encode(to encoder: any Encoder) throws { try inner.encode(to: encoder) }
    }

    @Test("nesting that the decoder would refuse is not encoded")
    func depth() throws {
        let bytes = try CBOREncoder().encode(Box(depth: 127))
        #expect(try CBOREncoder().encode(CBORDecoder().decode(Box.self, from: bytes)) == bytes)
        #expect(throws: EncodingError.self) { try CBOREncoder().encode(Box(depth: 128)) }
    }

    @Test("a value that encodes nothing is an error")
    func nothing() {
        struct Nothing: Encodable { func encode(to encoder: any Encoder) throws {} }
        #expect(throws: EncodingError.self) { try CBOREncoder().encode(Nothing()) }
        #expect(throws: EncodingError.self) { try CBOREncoder().encode([Nothing()]) }
    }

    @Test("no bytes crash the decoders, and a decoded item encodes to the same bytes")
    func fuzz() throws {
        var random = SeededGenerator()
        let seeds = try [CBOREncoder().encode(Everything()), random.snapshot().encoded(), random.node().encoded()]
        var accepted = 0
        for round in 0..<6000 {
            let bytes = round % 4 == 0 ? random.bytes(0, 24) : damaged(seeds[round % seeds.count], using: &random)
            if let again = try? reencoded(bytes) {
                accepted += 1
                #expect(again == bytes, "seed \(random.seed)")
            }
            _ = try? CBORDecoder().decode(Everything.self, from: bytes)
            _ = try? CBORDecoder().decode(Box.self, from: bytes)
        }
        #expect(accepted > 150, "seed \(random.seed): the fuzzing hardly reached anything")
    }
}
