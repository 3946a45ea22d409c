// Decodes a state with any decoder, and migrates its parts to the versions of their types.

internal import ArchiveFormat

extension Part: Decodable where Value: Decodable {
    init(from decoder: any Decoder) throws {
        value = try StateCoding.of(decoder).part(Value.self, from: decoder)
    }
}

extension PartContent: Decodable where Value: Decodable {
    init(from decoder: any Decoder) throws {
        value = try StateCoding.of(decoder).content(Value.self, from: decoder)
    }
}

/// A decoder that wraps another one and decodes nested values as parts.
struct PartDecoder: DecoderAround {
    let decoder: any Decoder
    let coding: StateCoding
    /// Whether the value's version has already been read.
    var isMarked = false
    var codingPath: [any CodingKey] { decoder.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { decoder.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let members = try decoder.container(keyedBy: PartKey.self)
        if !isMarked { try coding.checkIsUnmarked(members) }
        return KeyedDecodingContainer(KeyedParts(base: members, coding: coding))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        UnkeyedParts(base: try decoder.unkeyedContainer(), coding: coding)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        SingleValue(base: try decoder.singleValueContainer())
    }
}

private struct KeyedParts<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let base: KeyedDecodingContainer<PartKey>
    let coding: StateCoding
    var codingPath: [any CodingKey] { base.codingPath }
    var allKeys: [Key] { base.allKeys.compactMap { $0.key(Key.self) } }

    func contains(_ key: Key) -> Bool { base.contains(PartKey(key)) }
    func decodeNil(forKey key: Key) throws -> Bool { try base.decodeNil(forKey: PartKey(key)) }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try base.decode(type, forKey: PartKey(key)) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try base.decode(type, forKey: PartKey(key)) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try base.decode(type, forKey: PartKey(key)) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try base.decode(type, forKey: PartKey(key)) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try base.decode(type, forKey: PartKey(key)) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try base.decode(type, forKey: PartKey(key)) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try base.decode(type, forKey: PartKey(key)) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try base.decode(type, forKey: PartKey(key)) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try base.decode(type, forKey: PartKey(key)) }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try base.decode(type, forKey: PartKey(key)) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try base.decode(type, forKey: PartKey(key)) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try base.decode(type, forKey: PartKey(key)) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try base.decode(type, forKey: PartKey(key)) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try base.decode(type, forKey: PartKey(key)) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try base.decode(type, forKey: PartKey(key)) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try base.decode(type, forKey: PartKey(key)) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        if StateCoding.isPlain(type) { return try base.decode(type, forKey: PartKey(key)) }
        return try base.decode(Part<Value>.self, forKey: PartKey(key)).value
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let members = try base.nestedContainer(keyedBy: PartKey.self, forKey: PartKey(key))
        return KeyedDecodingContainer(KeyedParts<NestedKey>(base: members, coding: coding))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        UnkeyedParts(base: try base.nestedUnkeyedContainer(forKey: PartKey(key)), coding: coding)
    }

    func superDecoder() throws -> any Decoder { PartDecoder(decoder: try base.superDecoder(), coding: coding) }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        PartDecoder(decoder: try base.superDecoder(forKey: PartKey(key)), coding: coding)
    }
}

private struct UnkeyedParts: UnkeyedDecodingContainer {
    var base: any UnkeyedDecodingContainer
    let coding: StateCoding
    var codingPath: [any CodingKey] { base.codingPath }
    var count: Int? { base.count }
    var isAtEnd: Bool { base.isAtEnd }
    var currentIndex: Int { base.currentIndex }

    mutating func decodeNil() throws -> Bool { try base.decodeNil() }
    mutating func decode(_ type: Bool.Type) throws -> Bool { try base.decode(type) }
    mutating func decode(_ type: String.Type) throws -> String { try base.decode(type) }
    mutating func decode(_ type: Double.Type) throws -> Double { try base.decode(type) }
    mutating func decode(_ type: Float.Type) throws -> Float { try base.decode(type) }
    mutating func decode(_ type: Int.Type) throws -> Int { try base.decode(type) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try base.decode(type) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try base.decode(type) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try base.decode(type) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try base.decode(type) }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try base.decode(type) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try base.decode(type) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try base.decode(type) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try base.decode(type) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try base.decode(type) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try base.decode(type) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try base.decode(type) }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if StateCoding.isPlain(type) { return try base.decode(type) }
        return try base.decode(Part<Value>.self).value
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let members = try base.nestedContainer(keyedBy: PartKey.self)
        return KeyedDecodingContainer(KeyedParts<NestedKey>(base: members, coding: coding))
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        UnkeyedParts(base: try base.nestedUnkeyedContainer(), coding: coding)
    }

    mutating func superDecoder() throws -> any Decoder {
        PartDecoder(decoder: try base.superDecoder(), coding: coding)
    }
}

private struct SingleValue: SingleValueDecodingContainer {
    let base: any SingleValueDecodingContainer
    var codingPath: [any CodingKey] { base.codingPath }

    func decodeNil() -> Bool { base.decodeNil() }
    func decode(_ type: Bool.Type) throws -> Bool { try base.decode(type) }
    func decode(_ type: String.Type) throws -> String { try base.decode(type) }
    func decode(_ type: Double.Type) throws -> Double { try base.decode(type) }
    func decode(_ type: Float.Type) throws -> Float { try base.decode(type) }
    func decode(_ type: Int.Type) throws -> Int { try base.decode(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try base.decode(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try base.decode(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try base.decode(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try base.decode(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try base.decode(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try base.decode(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try base.decode(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try base.decode(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try base.decode(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try base.decode(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try base.decode(type) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if StateCoding.isPlain(type) { return try base.decode(type) }
        return try base.decode(Part<Value>.self).value
    }
}
