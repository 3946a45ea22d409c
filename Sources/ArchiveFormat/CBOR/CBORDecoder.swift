// Decodes Codable values from deterministic CBOR.

internal import FileIO
internal import FoundationEssentials

/// Decodes `Decodable` values from deterministic CBOR (RFC 8949 §4.2.1).
///
/// Any other CBOR is refused: indefinite lengths, numbers that are not the shortest, map keys out of order, tags,
/// simple values other than false, true and null, and more than 128 nested arrays and maps.
package struct CBORDecoder: Sendable {
    private let userInfo: [CodingUserInfoKey: any Sendable]

    /// A decoder.
    package init() { userInfo = [:] }

    /// A decoder that passes `userInfo` to the values it decodes.
    package init(userInfo: [CodingUserInfoKey: any Sendable]) { self.userInfo = userInfo }

    /// Decodes a value of type `type` from `bytes`.
    ///
    /// - Throws: `DecodingError`; errors of the type's own code.
    package func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        let item: CBORValue
        do {
            item = try bytes.withRawBytes(CBORValue.init(decoding:))
        } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: error.description, underlyingError: error))
        }
        return try decode(type, from: item)
    }

    /// Decodes a value of type `type` from `item`.
    package func decode<Value: Decodable>(_ type: Value.Type, from item: CBORValue) throws -> Value {
        try CBORValueDecoder(item: item, codingPath: [], userInfo: userInfo).value()
    }
}

/// The decoder passed to a value's `init(from:)`.
struct CBORValueDecoder: Decoder {
    fileprivate let item: CBORValue
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any]

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .map(let pairs) = item else { throw mismatch([CBORValue].self, "a map") }
        return KeyedDecodingContainer(CBORKeyedDecoding(pairs: pairs, codingPath: codingPath, userInfo: userInfo))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let items) = item else { throw mismatch([CBORValue].self, "an array") }
        return CBORUnkeyedDecoding(items: items, codingPath: codingPath, userInfo: userInfo)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { CBORSingleValueDecoding(decoder: self) }

    /// Decodes a value from the item.
    fileprivate func value<Value: Decodable>() throws -> Value {
        if Value.self == Data.self, case .bytes(let bytes) = item, let data = Data(bytes) as? Value { return data }
        if Value.self == URL.self, case .text(let text) = item {
            guard let url = URL(string: text) as? Value else { throw corrupted("'\(text)' is not a URL") }
            return url
        }
        return try Value(from: self)
    }

    /// The bytes of the item, which must be a byte string.
    func byteString() throws -> [UInt8] {
        guard case .bytes(let bytes) = item else { throw mismatch(ByteString.self, "a byte string") }
        return bytes
    }

    fileprivate var isNull: Bool {
        guard case .null = item else { return false }
        return true
    }

    fileprivate func boolean() throws -> Bool {
        guard case .boolean(let value) = item else { throw mismatch(Bool.self, "true or false") }
        return value
    }

    fileprivate func text() throws -> String {
        guard case .text(let value) = item else { throw mismatch(String.self, "a text") }
        return value
    }

    /// The item as a `Double`.
    ///
    /// An integer is accepted if a `Double` represents it exactly: the field may have been an integer in the past.
    fileprivate func double() throws -> Double {
        switch item {
        case .float(let value): return value
        case .unsigned(let value): if let value = Double(exactly: value) { return value }
        case .negative(let complement): if let value = Double(exactly: complement) { return -1 - value }
        default: break
        }
        throw mismatch(Double.self, "a floating-point number")
    }

    fileprivate func float() throws -> Float {
        let value = try double()
        if value.isNaN { return .nan }
        guard let float = Float(exactly: value) else { throw corrupted("\(value) does not fit Float") }
        return float
    }

    fileprivate func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        switch item {
        case .unsigned(let value):
            guard let number = Number(exactly: value) else { throw corrupted("\(value) does not fit \(type)") }
            return number
        case .negative(let complement):
            guard let magnitude = Int64(exactly: complement), let number = Number(exactly: ~magnitude) else {
                throw corrupted("-1 - \(complement) does not fit \(type)")
            }
            return number
        default: throw mismatch(type, "an integer")
        }
    }

    private func mismatch(_ type: any Any.Type, _ wanted: String) -> DecodingError {
        let context = DecodingError.Context(
            codingPath: codingPath, debugDescription: "expected \(wanted), found \(item.kind)")
        return isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }
}

extension CBORValue {
    /// The item that `decoder`, which a ``CBORDecoder`` made, decodes from.
    package init(of decoder: any Decoder) throws {
        guard let decoder = CBORValueDecoder(decoder) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "the decoder does not read CBOR"))
        }
        self = decoder.item
    }

    /// The item's type, for error messages.
    fileprivate var kind: String {
        switch self {
        case .unsigned, .negative: "an integer"
        case .bytes: "a byte string"
        case .text: "a text"
        case .array: "an array"
        case .map: "a map"
        case .boolean: "true or false"
        case .null: "null"
        case .float: "a floating-point number"
        }
    }
}

private struct CBORSingleValueDecoding: SingleValueDecodingContainer {
    let decoder: CBORValueDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.isNull }
    func decode(_ type: Bool.Type) throws -> Bool { try decoder.boolean() }
    func decode(_ type: String.Type) throws -> String { try decoder.text() }
    func decode(_ type: Double.Type) throws -> Double { try decoder.double() }
    func decode(_ type: Float.Type) throws -> Float { try decoder.float() }
    func decode(_ type: Int.Type) throws -> Int { try decoder.integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try decoder.integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try decoder.integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try decoder.integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try decoder.integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try decoder.integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.integer(type) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.value() }
}

private struct CBORKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let codingPath: [any CodingKey]
    /// In ascending order of the keys' encodings.
    private let pairs: [(key: CBORValue, value: CBORValue)]
    private let userInfo: [CodingUserInfoKey: Any]

    init(
        pairs: [(key: CBORValue, value: CBORValue)], codingPath: [any CodingKey], userInfo: [CodingUserInfoKey: Any]
    ) {
        self.pairs = pairs
        self.codingPath = codingPath
        self.userInfo = userInfo
    }

    var allKeys: [Key] {
        pairs.compactMap { pair in
            switch pair.key {
            case .text(let text): Key(stringValue: text)
            case .unsigned(let number): Int(exactly: number).flatMap(Key.init(intValue:))
            case .negative(let complement): Int(exactly: complement).flatMap { Key(intValue: ~$0) }
            default: nil
            }
        }
    }

    /// The item for `key`; a key with an integer value is also looked up by its text.
    private func item(_ key: any CodingKey) -> CBORValue? {
        find(CBORValue(key: key)) ?? (key.intValue == nil ? nil : find(.text(key.stringValue)))
    }

    private func find(_ key: CBORValue) -> CBORValue? {
        var range = 0..<pairs.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if pairs[middle].key.isKey(before: key) {
                range = (middle + 1)..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        guard range.lowerBound < pairs.count, !key.isKey(before: pairs[range.lowerBound].key) else { return nil }
        return pairs[range.lowerBound].value
    }

    private func decoder(_ key: any CodingKey) throws -> CBORValueDecoder {
        guard let item = item(key) else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: codingPath, debugDescription: "there is no key \(key.stringValue)"))
        }
        return CBORValueDecoder(item: item, codingPath: codingPath + [key], userInfo: userInfo)
    }

    func contains(_ key: Key) -> Bool { item(key) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).isNull }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decoder(key).boolean() }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try decoder(key).text() }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try decoder(key).double() }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try decoder(key).float() }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try decoder(key).integer(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try decoder(key).integer(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try decoder(key).integer(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try decoder(key).integer(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try decoder(key).integer(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try decoder(key).integer(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try decoder(key).integer(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try decoder(key).integer(type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try decoder(key).integer(type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try decoder(key).integer(type) }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decoder(key).value()
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try decoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try decoder(CBORKey.super) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }
}

private struct CBORUnkeyedDecoding: UnkeyedDecodingContainer {
    let items: [CBORValue]
    let codingPath: [any CodingKey]
    private let userInfo: [CodingUserInfoKey: Any]
    private(set) var currentIndex = 0

    init(items: [CBORValue], codingPath: [any CodingKey], userInfo: [CodingUserInfoKey: Any]) {
        self.items = items
        self.codingPath = codingPath
        self.userInfo = userInfo
    }

    var count: Int? { items.count }
    var isAtEnd: Bool { currentIndex == items.count }

    /// Decodes the next item with `body` and advances only if that succeeds.
    private mutating func next<Value>(
        _ type: Value.Type, _ body: (CBORValueDecoder) throws -> Value
    ) throws -> Value {
        let path = codingPath + [CBORKey(index: currentIndex)]
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(type, .init(codingPath: path, debugDescription: "the array ends here"))
        }
        let value = try body(CBORValueDecoder(item: items[currentIndex], codingPath: path, userInfo: userInfo))
        currentIndex += 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, case .null = items[currentIndex] else {
            if isAtEnd { _ = try next(Never?.self) { _ in nil } }
            return false
        }
        currentIndex += 1
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try next(type) { try $0.boolean() } }
    mutating func decode(_ type: String.Type) throws -> String { try next(type) { try $0.text() } }
    mutating func decode(_ type: Double.Type) throws -> Double { try next(type) { try $0.double() } }
    mutating func decode(_ type: Float.Type) throws -> Float { try next(type) { try $0.float() } }
    mutating func decode(_ type: Int.Type) throws -> Int { try next(type) { try $0.integer(type) } }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try next(type) { try $0.integer(type) } }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try next(type) { try $0.integer(type) } }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try next(type) { try $0.integer(type) } }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try next(type) { try $0.integer(type) } }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try next(type) { try $0.integer(type) } }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next(type) { try $0.integer(type) } }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next(type) { try $0.integer(type) } }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next(type) { try $0.integer(type) } }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next(type) { try $0.integer(type) } }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try next(type) { try $0.value() }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try next(KeyedDecodingContainer<NestedKey>.self) { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next((any UnkeyedDecodingContainer).self) { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try next((any Decoder).self) { $0 } }
}
