// Encodes a state with any encoder, and adds versions to its parts.

internal import ArchiveFormat

/// A value that is encoded with the version of its type, and decoded from any version.
struct Part<Value> {
    let value: Value

    init(_ value: Value) { self.value = value }
}

/// A value that is encoded without the version of its type, which is stored elsewhere; its parts have their versions.
struct PartContent<Value> {
    let value: Value

    init(_ value: Value) { self.value = value }
}

extension Part: Encodable where Value: Encodable {
    func encode(to encoder: any Encoder) throws {
        let version = StateCoding.version(of: Value.self)
        guard version > 1 else { return try PartContent(value).encode(to: encoder) }
        try value.encode(to: PartEncoder(base: encoder, isMarked: true))
        var members = encoder.container(keyedBy: PartKey.self)
        try members.encode(version, forKey: .version)
    }
}

extension PartContent: Encodable where Value: Encodable {
    func encode(to encoder: any Encoder) throws {
        guard StateCoding.isPlain(Value.self) else { return try value.encode(to: PartEncoder(base: encoder)) }
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// An encoder that wraps another one and encodes nested values as parts.
private struct PartEncoder: EncoderAround {
    let base: any Encoder
    /// Whether a version is stored with the value; a value without members then becomes the member `@state`.
    var isMarked = false
    var codingPath: [any CodingKey] { base.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedParts(base: base.container(keyedBy: PartKey.self)))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { UnkeyedParts(base: encoder.unkeyedContainer()) }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleValue(base: encoder.singleValueContainer())
    }

    var encoder: any Encoder {
        guard isMarked else { return base }
        var members = base.container(keyedBy: PartKey.self)
        return members.superEncoder(forKey: .content)
    }
}

private struct KeyedParts<Key: CodingKey>: KeyedEncodingContainerProtocol {
    var base: KeyedEncodingContainer<PartKey>
    var codingPath: [any CodingKey] { base.codingPath }

    mutating func encodeNil(forKey key: Key) throws { try base.encodeNil(forKey: PartKey(key)) }
    mutating func encode(_ value: Bool, forKey key: Key) throws { try base.encode(value, forKey: PartKey(key)) }
    mutating func encode(_ value: String, forKey key: Key) throws { try base.encode(value, forKey: PartKey(key)) }
    mutating func encode(_ value: Double, forKey key: Key) throws { try base.encode(value, forKey: PartKey(key)) }
    mutating func encode(_ value: Float, forKey key: Key) throws { try base.encode(value, forKey: PartKey(key)) }
    mutating func encode(_ value: Int, forKey key: Key) throws { try base.encode(value, forKey: PartKey(key)) }
    mutating func encode(_ value: Int8, forKey key: Key) throws { try base.encode(value, forKey: PartKey(key)) }
    mutating func encode(_ value: Int16, forKey key: Key) throws { try base.encode(value, forKey: PartKey(key)) }
    mutating func encode(_ value: Int32, forKey key: Key) throws { try base.encode(value, forKey: PartKey(key)) }
    mutating func encode(_ value: Int64, forKey key: Key) throws { try base.encode(value, forKey: PartKey(key)) }
    mutating func encode(_ value: Int128, forKey key: Key) throws { try base.encode(value, forKey: PartKey(key)) }
    mutating func encode(_ value: UInt, forKey key: Key) throws { try base.encode(value, forKey: PartKey(key)) }
    mutating func encode(_ value: UInt8, forKey key: Key) throws { try base.encode(value, forKey: PartKey(key)) }
    mutating func encode(_ value: UInt16, forKey key: Key) throws { try base.encode(value, forKey: PartKey(key)) }
    mutating func encode(_ value: UInt32, forKey key: Key) throws { try base.encode(value, forKey: PartKey(key)) }
    mutating func encode(_ value: UInt64, forKey key: Key) throws { try base.encode(value, forKey: PartKey(key)) }
    mutating func encode(_ value: UInt128, forKey key: Key) throws { try base.encode(value, forKey: PartKey(key)) }

    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        if StateCoding.isPlain(Value.self) { return try base.encode(value, forKey: PartKey(key)) }
        try base.encode(Part(value), forKey: PartKey(key))
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(
            KeyedParts<NestedKey>(base: base.nestedContainer(keyedBy: PartKey.self, forKey: PartKey(key))))
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        UnkeyedParts(base: base.nestedUnkeyedContainer(forKey: PartKey(key)))
    }

    mutating func superEncoder() -> any Encoder { PartEncoder(base: base.superEncoder()) }

    mutating func superEncoder(forKey key: Key) -> any Encoder {
        PartEncoder(base: base.superEncoder(forKey: PartKey(key)))
    }
}

private struct UnkeyedParts: UnkeyedEncodingContainer {
    var base: any UnkeyedEncodingContainer
    var codingPath: [any CodingKey] { base.codingPath }
    var count: Int { base.count }

    mutating func encodeNil() throws { try base.encodeNil() }
    mutating func encode(_ value: Bool) throws { try base.encode(value) }
    mutating func encode(_ value: String) throws { try base.encode(value) }
    mutating func encode(_ value: Double) throws { try base.encode(value) }
    mutating func encode(_ value: Float) throws { try base.encode(value) }
    mutating func encode(_ value: Int) throws { try base.encode(value) }
    mutating func encode(_ value: Int8) throws { try base.encode(value) }
    mutating func encode(_ value: Int16) throws { try base.encode(value) }
    mutating func encode(_ value: Int32) throws { try base.encode(value) }
    mutating func encode(_ value: Int64) throws { try base.encode(value) }
    mutating func encode(_ value: Int128) throws { try base.encode(value) }
    mutating func encode(_ value: UInt) throws { try base.encode(value) }
    mutating func encode(_ value: UInt8) throws { try base.encode(value) }
    mutating func encode(_ value: UInt16) throws { try base.encode(value) }
    mutating func encode(_ value: UInt32) throws { try base.encode(value) }
    mutating func encode(_ value: UInt64) throws { try base.encode(value) }
    mutating func encode(_ value: UInt128) throws { try base.encode(value) }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        if StateCoding.isPlain(Value.self) { return try base.encode(value) }
        try base.encode(Part(value))
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(KeyedParts<NestedKey>(base: base.nestedContainer(keyedBy: PartKey.self)))
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        UnkeyedParts(base: base.nestedUnkeyedContainer())
    }

    mutating func superEncoder() -> any Encoder { PartEncoder(base: base.superEncoder()) }
}

private struct SingleValue: SingleValueEncodingContainer {
    var base: any SingleValueEncodingContainer
    var codingPath: [any CodingKey] { base.codingPath }

    mutating func encodeNil() throws { try base.encodeNil() }
    mutating func encode(_ value: Bool) throws { try base.encode(value) }
    mutating func encode(_ value: String) throws { try base.encode(value) }
    mutating func encode(_ value: Double) throws { try base.encode(value) }
    mutating func encode(_ value: Float) throws { try base.encode(value) }
    mutating func encode(_ value: Int) throws { try base.encode(value) }
    mutating func encode(_ value: Int8) throws { try base.encode(value) }
    mutating func encode(_ value: Int16) throws { try base.encode(value) }
    mutating func encode(_ value: Int32) throws { try base.encode(value) }
    mutating func encode(_ value: Int64) throws { try base.encode(value) }
    mutating func encode(_ value: Int128) throws { try base.encode(value) }
    mutating func encode(_ value: UInt) throws { try base.encode(value) }
    mutating func encode(_ value: UInt8) throws { try base.encode(value) }
    mutating func encode(_ value: UInt16) throws { try base.encode(value) }
    mutating func encode(_ value: UInt32) throws { try base.encode(value) }
    mutating func encode(_ value: UInt64) throws { try base.encode(value) }
    mutating func encode(_ value: UInt128) throws { try base.encode(value) }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        if StateCoding.isPlain(Value.self) { return try base.encode(value) }
        try base.encode(Part(value))
    }
}
