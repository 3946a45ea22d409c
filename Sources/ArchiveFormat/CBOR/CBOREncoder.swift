// Encodes Codable values as deterministic CBOR.

internal import FoundationEssentials

/// Encodes `Encodable` values as deterministic CBOR (RFC 8949 §4.2.1): equal values have equal bytes.
///
/// A coding key with an integer value becomes an integer key, any other a text. `ByteString` and `Data` become byte
/// strings, `URL` becomes a text. The bytes of sets, and of dictionaries whose keys are neither text nor `Int`, differ
/// from run to run: the standard library encodes their elements in no fixed order.
package struct CBOREncoder: Sendable {
    /// An encoder.
    package init() {}

    /// The bytes of `value`.
    ///
    /// - Throws: `EncodingError` if the value encodes nothing or is nested too deeply; errors of the value's own code.
    package func encode(_ value: some Encodable) throws -> [UInt8] {
        let slot = CBORSlot()
        try slot.encode(value, at: [])
        let item = slot.value
        guard item.depth <= CBOR.depthLimit else { throw CBORSlot.tooDeep(value, at: []) }
        return item.encoded()
    }
}

/// The place of one value in the output; the value's containers fill it.
final class CBORSlot {
    /// A part of an array or a map; a plain value needs no slot.
    private enum Part {
        case item(CBORValue)
        case slot(CBORSlot)

        var value: CBORValue {
            switch self {
            case .item(let item): item
            case .slot(let slot): slot.value
            }
        }
    }

    private enum State {
        case empty
        case item(CBORValue)
        case array([Part])
        /// In the order of encoding; of equal keys the last one counts.
        case map([(key: CBORValue, part: Part)])
    }

    private var state = State.empty

    fileprivate func encode<Value: Encodable>(_ value: Value, at path: [any CodingKey]) throws {
        // Stops infinite recursion; the exact depth is checked on the finished item.
        guard path.count <= CBOR.depthLimit else { throw CBORSlot.tooDeep(value, at: path) }
        if let item = CBORSlot.plain(value) { return set(item) }
        try value.encode(to: CBORValueEncoder(slot: self, codingPath: path))
        if case .empty = state {
            throw EncodingError.invalidValue(
                value, .init(codingPath: path, debugDescription: "the value of type \(Value.self) encoded nothing"))
        }
    }

    /// The item for a value whose type has a special encoding or needs no container; nil for other types.
    fileprivate static func plain<Value>(_ value: Value) -> CBORValue? {
        if Value.self == Int.self { return (value as? Int).map { CBORValue($0) } }
        if Value.self == String.self { return (value as? String).map { .text($0) } }
        if Value.self == Double.self { return (value as? Double).map { .float($0) } }
        if Value.self == Data.self { return (value as? Data).map { .bytes(Array($0)) } }
        if Value.self == URL.self { return (value as? URL).map { .text($0.absoluteString) } }
        return nil
    }

    fileprivate static func tooDeep(_ value: Any, at path: [any CodingKey]) -> EncodingError {
        .invalidValue(
            value,
            .init(
                codingPath: path,
                debugDescription: "nested too deeply: at most \(CBOR.depthLimit) arrays and maps may be nested"))
    }

    fileprivate func set(_ item: CBORValue) { state = .item(item) }

    fileprivate func beginMap() {
        if case .map = state { return }
        state = .map([])
    }

    fileprivate func beginArray() {
        if case .array = state { return }
        state = .array([])
    }

    /// Sets the value for `key` of a map.
    fileprivate func set(_ item: CBORValue, for key: any CodingKey) { add(.item(item), for: key) }

    /// The slot for `key` of a map.
    fileprivate func slot(for key: any CodingKey) -> CBORSlot {
        let slot = CBORSlot()
        add(.slot(slot), for: key)
        return slot
    }

    private func add(_ part: Part, for key: any CodingKey) {
        guard case .map(var parts) = state else { return }
        state = .empty
        parts.append((CBORValue(key: key), part))
        state = .map(parts)
    }

    /// Adds the next item of an array.
    fileprivate func append(_ item: CBORValue) { add(.item(item)) }

    /// The slot for the next item of an array.
    fileprivate func appendedSlot() -> CBORSlot {
        let slot = CBORSlot()
        add(.slot(slot))
        return slot
    }

    private func add(_ part: Part) {
        guard case .array(var parts) = state else { return }
        state = .empty
        parts.append(part)
        state = .array(parts)
    }

    fileprivate var count: Int {
        guard case .array(let parts) = state else { return 0 }
        return parts.count
    }

    /// The finished value.
    ///
    /// A slot that stayed empty is an empty map, as in Foundation's encoders.
    fileprivate var value: CBORValue {
        switch state {
        case .empty: return .map([])
        case .item(let item): return item
        case .array(let parts): return .array(parts.map(\.value))
        case .map(let parts):
            // The sort is stable, so the last of several equal keys stays last.
            let sorted = CBORValue.sorted(parts.map { ($0.key, $0.part.value) })
            var pairs: [(key: CBORValue, value: CBORValue)] = []
            pairs.reserveCapacity(sorted.count)
            for pair in sorted {
                if let last = pairs.last, !last.key.isKey(before: pair.key) { pairs.removeLast() }
                pairs.append(pair)
            }
            return .map(pairs)
        }
    }
}

/// The encoder passed to a value's `encode(to:)`.
struct CBORValueEncoder: Encoder {
    fileprivate let slot: CBORSlot
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Sets the value's item directly.
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

    func encodeNil(forKey key: Key) { slot.set(.null, for: key) }
    func encode(_ value: Bool, forKey key: Key) { slot.set(.boolean(value), for: key) }
    func encode(_ value: String, forKey key: Key) { slot.set(.text(value), for: key) }
    func encode(_ value: Double, forKey key: Key) { slot.set(.float(value), for: key) }
    func encode(_ value: Float, forKey key: Key) { slot.set(.float(Double(value)), for: key) }
    func encode(_ value: Int, forKey key: Key) { slot.set(CBORValue(value), for: key) }
    func encode(_ value: Int8, forKey key: Key) { slot.set(CBORValue(value), for: key) }
    func encode(_ value: Int16, forKey key: Key) { slot.set(CBORValue(value), for: key) }
    func encode(_ value: Int32, forKey key: Key) { slot.set(CBORValue(value), for: key) }
    func encode(_ value: Int64, forKey key: Key) { slot.set(CBORValue(value), for: key) }
    func encode(_ value: UInt, forKey key: Key) { slot.set(CBORValue(value), for: key) }
    func encode(_ value: UInt8, forKey key: Key) { slot.set(CBORValue(value), for: key) }
    func encode(_ value: UInt16, forKey key: Key) { slot.set(CBORValue(value), for: key) }
    func encode(_ value: UInt32, forKey key: Key) { slot.set(CBORValue(value), for: key) }
    func encode(_ value: UInt64, forKey key: Key) { slot.set(CBORValue(value), for: key) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        if let item = CBORSlot.plain(value) { return slot.set(item, for: key) }
        try slot.slot(for: key).encode(value, at: codingPath + [key])
    }

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

    func encodeNil() { slot.append(.null) }
    func encode(_ value: Bool) { slot.append(.boolean(value)) }
    func encode(_ value: String) { slot.append(.text(value)) }
    func encode(_ value: Double) { slot.append(.float(value)) }
    func encode(_ value: Float) { slot.append(.float(Double(value))) }
    func encode(_ value: Int) { slot.append(CBORValue(value)) }
    func encode(_ value: Int8) { slot.append(CBORValue(value)) }
    func encode(_ value: Int16) { slot.append(CBORValue(value)) }
    func encode(_ value: Int32) { slot.append(CBORValue(value)) }
    func encode(_ value: Int64) { slot.append(CBORValue(value)) }
    func encode(_ value: UInt) { slot.append(CBORValue(value)) }
    func encode(_ value: UInt8) { slot.append(CBORValue(value)) }
    func encode(_ value: UInt16) { slot.append(CBORValue(value)) }
    func encode(_ value: UInt32) { slot.append(CBORValue(value)) }
    func encode(_ value: UInt64) { slot.append(CBORValue(value)) }

    func encode<Value: Encodable>(_ value: Value) throws {
        if let item = CBORSlot.plain(value) { return slot.append(item) }
        let path = codingPath + [CBORKey(index: count)]
        try slot.appendedSlot().encode(value, at: path)
    }

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
