// The examples of encoded items in RFC 8949, appendix A.

import ArchiveFormat
import Testing

@Suite("RFC 8949 appendix A")
struct CBORVectorTests {
    /// An example in deterministic encoding: the value encodes to the bytes, and the bytes decode to the value.
    struct Example: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: [UInt8]
        let encode: @Sendable () throws -> [UInt8]
        let decodes: @Sendable ([UInt8]) throws -> Bool

        init<Value: Codable & Equatable & Sendable>(_ value: Value, _ digits: String) {
            testDescription = "\(value) = \(digits)"
            bytes = hex(digits)
            encode = { try CBOREncoder().encode(value) }
            decodes = { try CBORDecoder().decode(Value.self, from: $0) == value }
        }
    }

    static let examples: [Example] = [
        Example(0, "00"), Example(1, "01"), Example(10, "0a"), Example(23, "17"), Example(24, "1818"),
        Example(25, "1819"), Example(100, "1864"), Example(1000, "1903e8"), Example(1_000_000, "1a000f4240"),
        Example(1_000_000_000_000, "1b000000e8d4a51000"), Example(UInt64.max, "1bffffffffffffffff"),
        Example(-1, "20"), Example(-10, "29"), Example(-100, "3863"), Example(-1000, "3903e7"),
        Example(0.0, "f90000"), Example(1.0, "f93c00"), Example(1.1, "fb3ff199999999999a"), Example(1.5, "f93e00"),
        Example(65504.0, "f97bff"), Example(100_000.0, "fa47c35000"), Example(3.4028234663852886e+38, "fa7f7fffff"),
        Example(1.0e+300, "fb7e37e43c8800759c"), Example(5.960464477539063e-8, "f90001"),
        Example(0.00006103515625, "f90400"), Example(-4.0, "f9c400"), Example(-4.1, "fbc010666666666666"),
        Example(Double.infinity, "f97c00"), Example(-Double.infinity, "f9fc00"), Example(Float(1.5), "f93e00"),
        Example(false, "f4"), Example(true, "f5"), Example(Int?.none, "f6"),
        Example(ByteString([]), "40"), Example(ByteString([1, 2, 3, 4]), "4401020304"),
        Example("", "60"), Example("a", "6161"), Example("IETF", "6449455446"), Example("\"\\", "62225c"),
        Example("\u{fc}", "62c3bc"), Example("\u{6c34}", "63e6b0b4"), Example("\u{10151}", "64f0908591"),
        Example([Int](), "80"), Example([1, 2, 3], "83010203"),
        Example(Nested.example, "8301820203820405"),
        Example(Array(1...25), "98190102030405060708090a0b0c0d0e0f101112131415161718181819"),
        Example([Int: Int](), "a0"), Example([1: 2, 3: 4], "a201020304"),
        Example(Mixed(a: 1, b: [2, 3]), "a26161016162820203"),
        Example(MixedArray.example, "826161a161626163"),
        Example(["a": "A", "b": "B", "c": "C", "d": "D", "e": "E"], "a56161614161626142616361436164614461656145"),
    ]

    @Test("a deterministic example encodes to its bytes and decodes from them", arguments: examples)
    func deterministic(example: Example) throws {
        #expect(try example.encode() == example.bytes)
        #expect(try example.decodes(example.bytes))
    }

    @Test("negative zero and NaN keep their bytes")
    func specialFloats() throws {
        let zero = try CBORDecoder().decode(Double.self, from: hex("f98000"))
        #expect(zero == 0 && zero.sign == .minus)
        #expect(try CBOREncoder().encode(-0.0) == hex("f98000"))
        #expect(try CBORDecoder().decode(Double.self, from: hex("f97e00")).isNaN)
        #expect(try CBOREncoder().encode(-Double.signalingNaN) == hex("f97e00"))
    }

    @Test("the least CBOR integer is read as an item but fits no Swift integer")
    func leastInteger() throws {
        #expect(throws: DecodingError.self) { try CBORDecoder().decode(Int64.self, from: hex("3bffffffffffffffff")) }
        #expect(try reencoded(hex("3bffffffffffffffff")) == hex("3bffffffffffffffff"))
    }

    @Test(
        "an example that is not deterministic, or uses other parts of CBOR, is refused",
        arguments: [
            // Tags: big numbers, dates, encoded CBOR, a URI.
            "c249010000000000000000", "c349010000000000000000", "c074323031332d30332d32315432303a30343a30305a",
            "c11a514b67b0", "c1fb41d452d9e8200000", "d74401020304", "d818456449455446",
            "d82076687474703a2f2f7777772e6578616d706c652e636f6d",
            // Floating-point numbers that are not the shortest.
            "fa7f800000", "fa7fc00000", "faff800000", "fb7ff0000000000000", "fb7ff8000000000000", "fbfff0000000000000",
            // Undefined and other simple values.
            "f7", "f0", "f8ff",
            // Indefinite lengths.
            "5f42010243030405ff", "7f657374726561646d696e67ff", "9fff", "9f018202039f0405ffff", "9f01820203820405ff",
            "83018202039f0405ff", "83019f0203ff820405",
            "9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff", "bf61610161629f0203ffff",
            "826161bf61626163ff", "bf6346756ef563416d7421ff",
        ])
    func refused(digits: String) {
        #expect(throws: FormatError.self) { try reencoded(hex(digits)) }
    }

    @Test(
        "a number or length that is not the shortest is refused",
        arguments: [
            "1800", "1817", "190000", "1900ff", "1a00000000", "1a0000ffff", "1b0000000000000000", "1b00000000ffffffff",
            "3817", "5800", "580161", "7801 61", "9800", "980101", "b800", "f814", "f818", "f97e01", "f9fe00", "f97c01",
            "fa3f800000", "fb3ff0000000000000", "fb3ff8000000000000",
        ])
    func notShortest(digits: String) {
        #expect(throws: FormatError.self) { try reencoded(hex(digits)) }
    }

    @Test(
        "map keys that are repeated or out of order are refused",
        arguments: ["a201000000", "a2616200616100", "a200000000", "a2200018 1800"])
    func keyOrder(digits: String) {
        #expect(throws: FormatError.self) { try reencoded(hex(digits)) }
    }

    @Test("map keys are ordered bytewise, not by length first")
    func bytewiseKeys() throws {
        #expect(try reencoded(hex("a218180020 01")) == hex("a21818002001"))
    }

    @Test(
        "bytes after a value and missing bytes are refused",
        arguments: ["0000", "f6f6", "", "18", "19 00", "41", "61", "81", "a1", "a100"])
    func wrongEnd(digits: String) {
        #expect(throws: FormatError.self) { try reencoded(hex(digits)) }
    }

    @Test("text that is not UTF-8 is refused", arguments: ["61ff", "62c328", "63eda080"])
    func wrongText(digits: String) {
        #expect(throws: FormatError.self) { try reencoded(hex(digits)) }
    }

    @Test(
        "a length greater than the input is refused before anything is allocated",
        arguments: [
            "5bffffffffffffffff", "5b7fffffffffffffff", "7b7fffffffffffffff", "9bffffffffffffffff",
            "9b7fffffffffffffff00", "bb7fffffffffffffff00", "9affffffff00", "ba7fffffff00",
        ])
    func hugeLength(digits: String) {
        #expect(throws: FormatError.truncated) { try reencoded(hex(digits)) }
    }

    @Test("128 nested arrays are read, and one more is refused")
    func depth() throws {
        let deepest = [UInt8](repeating: 0x81, count: 127) + [0x80]
        #expect(try reencoded(deepest) == deepest)
        #expect(throws: FormatError.self) { try reencoded([0x81] + deepest) }
        #expect(throws: FormatError.self) { try reencoded([UInt8](repeating: 0x81, count: 1_000_000)) }
        #expect(throws: FormatError.self) { try reencoded([UInt8](repeating: 0xa1, count: 1_000_000)) }
    }
}

/// Reads one item and writes it again.
func reencoded(_ bytes: [UInt8]) throws -> [UInt8] {
    try bytes.withUnsafeBytes { try CBORValue(decoding: $0) }.encoded()
}

/// `[1, [2, 3], [4, 5]]`.
private enum Nested: Codable, Equatable {
    case number(Int)
    case list([Nested])

    static let example = Nested.list([.number(1), .list([.number(2), .number(3)]), .list([.number(4), .number(5)])])

    init(from decoder: any Decoder) throws {
        if let number = try? decoder.singleValueContainer().decode(Int.self) {
            self = .number(number)
        } else {
            self = .list(try decoder.singleValueContainer().decode([Nested].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .number(let number): try container.encode(number)
        case .list(let list): try container.encode(list)
        }
    }
}

private struct Mixed: Codable, Equatable {
    let a: Int
    let b: [Int]
}

/// `["a", {"b": "c"}]`.
private struct MixedArray: Codable, Equatable {
    let text: String
    let map: [String: String]

    static let example = MixedArray(text: "a", map: ["b": "c"])

    init(text: String, map: [String: String]) {
        self.text = text
        self.map = map
    }

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        text = try container.decode(String.self)
        map = try container.decode([String: String].self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(text)
        try container.encode(map)
    }
}
