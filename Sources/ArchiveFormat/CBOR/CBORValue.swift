// A CBOR item as a value; the Codable coders work on it.

internal import FileIO

/// A CBOR item, limited to the part of RFC 8949's data model that the format uses: no tags, no other simple values.
package enum CBORValue: Sendable {
    case unsigned(UInt64)
    /// The integer `-1 - complement`.
    case negative(complement: UInt64)
    case bytes([UInt8])
    case text(String)
    case array([CBORValue])
    /// Pairs in ascending order of the keys' encodings.
    case map([(key: CBORValue, value: CBORValue)])
    case boolean(Bool)
    case null
    case float(Double)

    package init(_ integer: some BinaryInteger) {
        self = integer < 0 ? .negative(complement: UInt64(-1 - integer)) : .unsigned(UInt64(integer))
    }

    /// How deep arrays and maps are nested; 0 for a plain item.
    var depth: Int {
        switch self {
        case .array(let items): 1 + (items.map(\.depth).max() ?? 0)
        case .map(let pairs): 1 + (pairs.map { max($0.key.depth, $0.value.depth) }.max() ?? 0)
        default: 0
        }
    }

    /// The item's bytes; the pairs of a map are sorted here and may be in any order.
    package func encoded() -> [UInt8] {
        var writer = CBORWriter()
        write(to: &writer)
        return writer.bytes
    }

    private func write(to writer: inout CBORWriter) {
        switch self {
        case .unsigned(let value): writer.unsigned(value)
        case .negative(let complement): writer.negative(complement: complement)
        case .bytes(let value): writer.byteString(value)
        case .text(let value): writer.text(value)
        case .array(let items):
            writer.array(count: items.count)
            for item in items { item.write(to: &writer) }
        case .map(let pairs):
            writer.map(count: pairs.count)
            for pair in CBORValue.sorted(pairs) {
                pair.key.write(to: &writer)
                pair.value.write(to: &writer)
            }
        case .boolean(let value): writer.boolean(value)
        case .null: writer.null()
        case .float(let value): writer.float(value)
        }
    }

    /// The pairs in ascending order of the keys' encodings.
    package static func sorted(
        _ pairs: [(key: CBORValue, value: CBORValue)]
    ) -> [(key: CBORValue, value: CBORValue)] {
        let isSorted = zip(pairs, pairs.dropFirst()).allSatisfy { !$1.key.isKey(before: $0.key) }
        return isSorted ? pairs : pairs.sorted { $0.key.isKey(before: $1.key) }
    }

    /// Whether the item's encoding sorts before that of `other`: by kind, then by length, then by content.
    func isKey(before other: CBORValue) -> Bool {
        switch (self, other) {
        case (.text(let left), .text(let right)):
            let (left, right) = (left.utf8, right.utf8)
            return left.count == right.count ? left.lexicographicallyPrecedes(right) : left.count < right.count
        case (.unsigned(let left), .unsigned(let right)): return left < right
        case (.negative(let left), .negative(let right)): return left < right
        case (.unsigned, .negative), (.unsigned, .text), (.negative, .text): return true
        case (.negative, .unsigned), (.text, .unsigned), (.text, .negative): return false
        default: return encoded().lexicographicallyPrecedes(other.encoded())
        }
    }

    /// Reads the single item in `bytes`.
    ///
    /// - Throws: `FormatError` unless `bytes` are the deterministic encoding of one item.
    package init(decoding bytes: UnsafeRawBufferPointer) throws(FormatError) {
        var reader = CBORReader(bytes)
        try self.init(from: &reader, depth: 0)
        try reader.finish()
    }

    /// Reads the single item in `bytes`.
    package init(decoding bytes: [UInt8]) throws(FormatError) {
        self = try bytes.withRawBytes(CBORValue.init(decoding:))
    }

    /// Reads the next item, which is nested in `depth` arrays and maps.
    init(from reader: inout CBORReader, depth: Int) throws(FormatError) {
        guard let major = CBORMajor(rawValue: try reader.peek()) else { throw .malformed("a CBOR head") }
        switch major {
        case .unsigned: self = .unsigned(try reader.unsigned())
        case .negative: self = .negative(complement: try reader.negativeComplement())
        case .bytes: self = .bytes(Array(try reader.byteString()))
        case .text: self = .text(try reader.text())
        case .array: self = .array(try CBORValue.items(from: &reader, depth: depth + 1))
        case .map: self = .map(try CBORValue.pairs(from: &reader, depth: depth + 1))
        case .tag: throw .malformed("a CBOR tag")
        case .simple:
            switch try reader.peekByte() {
            case CBOR.half, CBOR.single, CBOR.double: self = .float(try reader.float())
            default:
                let byte = try reader.simple()
                self = byte == CBOR.null ? .null : .boolean(byte == CBOR.true)
            }
        }
    }

    private static func items(from reader: inout CBORReader, depth: Int) throws(FormatError) -> [CBORValue] {
        try CBORReader.checkDepth(depth)
        var items = [CBORValue]()
        for _ in 0..<(try reader.array()) { items.append(try CBORValue(from: &reader, depth: depth)) }
        return items
    }

    private static func pairs(
        from reader: inout CBORReader, depth: Int
    ) throws(FormatError) -> [(key: CBORValue, value: CBORValue)] {
        try CBORReader.checkDepth(depth)
        var pairs = [(key: CBORValue, value: CBORValue)]()
        var keys = CBORKeyOrder()
        for _ in 0..<(try reader.map()) {
            let start = reader.position
            let key = try CBORValue(from: &reader, depth: depth)
            try keys.check(reader.bytes(from: start))
            pairs.append((key, try CBORValue(from: &reader, depth: depth)))
        }
        return pairs
    }
}
