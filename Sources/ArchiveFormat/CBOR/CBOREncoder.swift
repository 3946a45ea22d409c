// Codable values to deterministic CBOR.

internal import FoundationEssentials

/// Encodes `Encodable` values as deterministic CBOR (RFC 8949 §4.2.1): equal values give equal bytes.
///
/// A coding key with an integer value becomes an integer key, any other a text. `ByteString` and `Data` become byte strings.
/// Sets, and dictionaries whose keys are neither text nor `Int`, have no order of their own: the standard library hands
/// them over in an order that differs from run to run, and so do their bytes.
public struct CBOREncoder: Sendable {
    public init() {}

    /// The bytes of `value`.
    ///
    /// - Throws: `EncodingError` where the value encodes nothing or is nested too deeply, and what its own code throws.
    public func encode(_ value: some Encodable) throws -> [UInt8] {
        let slot = CBORSlot()
        try slot.encode(value, at: [])
        let item = slot.value
        guard item.depth <= CBOR.depthLimit else { throw CBORSlot.tooDeep(value, at: []) }
        return item.encoded()
    }
}

/// Where one value will stand; filled by the containers that a value asks for.
final class CBORSlot {
    private enum State {
        case empty
        case item(CBORValue)
        case array([CBORSlot])
        /// By the keys' encodings, so that keys are told apart as bytes.
        case map([[UInt8]: (key: CBORValue, slot: CBORSlot)])
    }

    private var state = State.empty

    fileprivate func encode<Value: Encodable>(_ value: Value, at path: [any CodingKey]) throws {
        // Stops a value without end; the exact bound is checked on the whole.
        guard path.count <= CBOR.depthLimit else { throw CBORSlot.tooDeep(value, at: path) }
        if Value.self == Data.self, let data = value as? Data { return set(.bytes(Array(data))) }
        try value.encode(to: CBORValueEncoder(slot: self, codingPath: path))
        if case .empty = state {
            throw EncodingError.invalidValue(
                value, .init(codingPath: path, debugDescription: "the value of type \(Value.self) encoded nothing"))
        }
    }

    fileprivate static func tooDeep(_ value: Any, at path: [any CodingKey]) -> EncodingError {
        .invalidValue(value, .init(codingPath: path, debugDescription: "nested too deeply"))
    }

    fileprivate func set(_ item: CBORValue) { state = .item(item) }

    fileprivate func beginMap() {
        if case .map = state { return }
        state = .map([:])
    }

    fileprivate func beginArray() {
        if case .array = state { return }
        state = .array([])
    }

    /// The slot for `key` of a map; a second one replaces the first.
    fileprivate func slot(for key: any CodingKey) -> CBORSlot {
        let slot = CBORSlot()
        guard case .map(var slots) = state else { return slot }
        state = .empty
        let key = CBORValue(key: key)
        slots[key.encoded()] = (key, slot)
        state = .map(slots)
        return slot
    }

    /// The slot for the next item of an array.
    fileprivate func appendedSlot() -> CBORSlot {
        let slot = CBORSlot()
        guard case .array(var slots) = state else { return slot }
        state = .empty
        slots.append(slot)
        state = .array(slots)
        return slot
    }

    fileprivate var count: Int {
        guard case .array(let slots) = state else { return 0 }
        return slots.count
    }

    /// The finished value.
    ///
    /// A slot that was asked for and left empty is an empty map, as in Foundation's encoders.
    fileprivate var value: CBORValue {
        switch state {
        case .empty: .map([])
        case .item(let item): item
        case .array(let slots): .array(slots.map(\.value))
        case .map(let slots): .map(slots.values.map { ($0.key, $0.slot.value) })
        }
    }
}

/// The encoder that a value sees.
struct CBORValueEncoder: Encoder {
    fileprivate let slot: CBORSlot
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Writes a whole item.
    func write(_ item: CBORValue) { slot.set(item) }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        slot.beginMap()
        return KeyedEncodingContainer(CBORKeyedEncoding(slot: slot, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        slot.beginArray()
        return CBORUnkeyedEncoding(slot: slot, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        CBORSingleValueEncoding(slot: slot, codingPath: codingPath)
    }
}

private struct CBORSingleValueEncoding: SingleValueEncodingContainer {
    let slot: CBORSlot
    let codingPath: [any CodingKey]

    func encodeNil() { slot.set(.null) }
    func encode(_ value: Bool) { slot.set(.boolean(value)) }
    func encode(_ value: String) { slot.set(.text(value)) }
    func encode(_ value: Double) { slot.set(.float(value)) }
    func encode(_ value: Float) { slot.set(.float(Double(value))) }
    func encode(_ value: Int) { slot.set(CBORValue(value)) }
    func encode(_ value: Int8) { slot.set(CBORValue(value)) }
    func encode(_ value: Int16) { slot.set(CBORValue(value)) }
    func encode(_ value: Int32) { slot.set(CBORValue(value)) }
    func encode(_ value: Int64) { slot.set(CBORValue(value)) }
    func encode(_ value: UInt) { slot.set(CBORValue(value)) }
    func encode(_ value: UInt8) { slot.set(CBORValue(value)) }
    func encode(_ value: UInt16) { slot.set(CBORValue(value)) }
    func encode(_ value: UInt32) { slot.set(CBORValue(value)) }
    func encode(_ value: UInt64) { slot.set(CBORValue(value)) }
    func encode<Value: Encodable>(_ value: Value) throws { try slot.encode(value, at: codingPath) }
}

private struct CBORKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let slot: CBORSlot
    let codingPath: [any CodingKey]

    private func single(_ key: any CodingKey) -> CBORSingleValueEncoding {
        CBORSingleValueEncoding(slot: slot.slot(for: key), codingPath: codingPath + [key])
    }

    func encodeNil(forKey key: Key) { single(key).encodeNil() }
    func encode(_ value: Bool, forKey key: Key) { single(key).encode(value) }
    func encode(_ value: String, forKey key: Key) { single(key).encode(value) }
    func encode(_ value: Double, forKey key: Key) { single(key).encode(value) }
    func encode(_ value: Float, forKey key: Key) { single(key).encode(value) }
    func encode(_ value: Int, forKey key: Key) { single(key).encode(value) }
    func encode(_ value: Int8, forKey key: Key) { single(key).encode(value) }
    func encode(_ value: Int16, forKey key: Key) { single(key).encode(value) }
    func encode(_ value: Int32, forKey key: Key) { single(key).encode(value) }
    func encode(_ value: Int64, forKey key: Key) { single(key).encode(value) }
    func encode(_ value: UInt, forKey key: Key) { single(key).encode(value) }
    func encode(_ value: UInt8, forKey key: Key) { single(key).encode(value) }
    func encode(_ value: UInt16, forKey key: Key) { single(key).encode(value) }
    func encode(_ value: UInt32, forKey key: Key) { single(key).encode(value) }
    func encode(_ value: UInt64, forKey key: Key) { single(key).encode(value) }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try single(key).encode(value) }

    private func encoder(_ key: any CodingKey) -> CBORValueEncoder {
        CBORValueEncoder(slot: slot.slot(for: key), codingPath: codingPath + [key])
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder(CBORKey.super) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }
}

private struct CBORUnkeyedEncoding: UnkeyedEncodingContainer {
    let slot: CBORSlot
    let codingPath: [any CodingKey]
    var count: Int { slot.count }

    private func single() -> CBORSingleValueEncoding {
        let path = codingPath + [CBORKey(index: count)]
        return CBORSingleValueEncoding(slot: slot.appendedSlot(), codingPath: path)
    }

    func encodeNil() { single().encodeNil() }
    func encode(_ value: Bool) { single().encode(value) }
    func encode(_ value: String) { single().encode(value) }
    func encode(_ value: Double) { single().encode(value) }
    func encode(_ value: Float) { single().encode(value) }
    func encode(_ value: Int) { single().encode(value) }
    func encode(_ value: Int8) { single().encode(value) }
    func encode(_ value: Int16) { single().encode(value) }
    func encode(_ value: Int32) { single().encode(value) }
    func encode(_ value: Int64) { single().encode(value) }
    func encode(_ value: UInt) { single().encode(value) }
    func encode(_ value: UInt8) { single().encode(value) }
    func encode(_ value: UInt16) { single().encode(value) }
    func encode(_ value: UInt32) { single().encode(value) }
    func encode(_ value: UInt64) { single().encode(value) }
    func encode<Value: Encodable>(_ value: Value) throws { try single().encode(value) }

    private func encoder() -> CBORValueEncoder {
        let path = codingPath + [CBORKey(index: count)]
        return CBORValueEncoder(slot: slot.appendedSlot(), codingPath: path)
    }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        encoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder() }
}
