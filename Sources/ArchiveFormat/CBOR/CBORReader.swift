// Reads deterministic CBOR item by item. It is strict: any other encoding of a value is refused.

internal import FileIO

/// Reads CBOR items from memory that outlives the reader.
///
/// It never trusts a length: the input must still have as many bytes as a head announces.
package struct CBORReader {
    private let input: UnsafeRawBufferPointer
    /// Bytes read so far.
    package private(set) var position = 0

    package init(_ input: UnsafeRawBufferPointer) {
        self.input = input
    }

    /// Bytes left.
    package var remaining: Int { input.count - position }

    /// Moves to `position`, where an item begins.
    mutating func seek(to position: Int) { self.position = position }

    /// Throws if bytes are left.
    package func finish() throws(FormatError) {
        guard remaining == 0 else { throw .malformed("bytes after the end of the value") }
    }

    /// The bytes read since `start`.
    func bytes(from start: Int) -> UnsafeRawBufferPointer { input.slice(start..<position) }

    // MARK: Heads

    /// The major type of the next item.
    package func peek() throws(FormatError) -> UInt8 {
        guard position < input.count else { throw .truncated }
        return input[position] >> 5
    }

    /// The next byte, without consuming it.
    func peekByte() throws(FormatError) -> UInt8 {
        guard position < input.count else { throw .truncated }
        return input[position]
    }

    /// Reads the head of an item of type `major`.
    @inline(__always)
    private mutating func head(_ major: CBORMajor) throws(FormatError) -> UInt64 {
        guard position < input.count else { throw .truncated }
        let initial = input[position]
        guard initial >> 5 == major.rawValue else { throw CBORReader.unexpected(initial, wanted: major) }
        position += 1
        let information = initial & 31
        return information < 24 ? UInt64(information) : try longArgument(information)
    }

    private mutating func longArgument(_ information: UInt8) throws(FormatError) -> UInt64 {
        let (value, least): (UInt64, UInt64)
        switch information {
        case 24: (value, least) = (UInt64(try bigEndian(UInt8.self)), 24)
        case 25: (value, least) = (UInt64(try bigEndian(UInt16.self)), 0x100)
        case 26: (value, least) = (UInt64(try bigEndian(UInt32.self)), 0x1_0000)
        case 27: (value, least) = (try bigEndian(UInt64.self), 0x1_0000_0000)
        case 31: throw .malformed("a CBOR item of indefinite length")
        default: throw .malformed("a reserved CBOR head")
        }
        guard value >= least else { throw .malformed("a CBOR number or length that is not the shortest") }
        return value
    }

    private mutating func bigEndian<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type
    ) throws(FormatError) -> Number {
        let size = MemoryLayout<Number>.size
        guard remaining >= size else { throw .truncated }
        let value = Number(bigEndian: input.loadUnaligned(fromByteOffset: position, as: type))
        position += size
        return value
    }

    private static func unexpected(_ initial: UInt8, wanted: CBORMajor) -> FormatError {
        .malformed("a CBOR item of type \(initial >> 5) instead of type \(wanted.rawValue)")
    }

    /// Reads a length and checks that the rest of the input can hold that many items of at least `width` bytes.
    @inline(__always)
    private mutating func length(_ major: CBORMajor, width: Int) throws(FormatError) -> Int {
        let length = try head(major)
        guard length <= UInt64(remaining / width) else { throw .truncated }
        return Int(length)
    }

    // MARK: Items

    package mutating func unsigned() throws(FormatError) -> UInt64 { try head(.unsigned) }

    /// An unsigned integer that fits `type`.
    @inline(__always)
    package mutating func unsigned<Number: FixedWidthInteger>(_ type: Number.Type) throws(FormatError) -> Number {
        guard let value = Number(exactly: try head(.unsigned)) else { throw .malformed("a number out of range") }
        return value
    }

    package mutating func integer() throws(FormatError) -> Int64 {
        let isNegative = try peek() == CBORMajor.negative.rawValue
        let argument = try head(isNegative ? .negative : .unsigned)
        guard let magnitude = Int64(exactly: argument) else { throw .malformed("a number out of range") }
        return isNegative ? ~magnitude : magnitude
    }

    /// Reads a negative integer `-1 - n` and returns `n`.
    mutating func negativeComplement() throws(FormatError) -> UInt64 { try head(.negative) }

    /// Reads a byte string without copying it.
    @inline(__always)
    package mutating func byteString() throws(FormatError) -> UnsafeRawBufferPointer {
        let length = try length(.bytes, width: 1)
        position += length
        return UnsafeRawBufferPointer(rebasing: input[(position - length)..<position])
    }

    package mutating func text() throws(FormatError) -> String {
        let length = try length(.text, width: 1)
        position += length
        guard let text = String(validating: input[(position - length)..<position], as: UTF8.self) else {
            throw .malformed("text that is not UTF-8")
        }
        return text
    }

    /// Begins an array and returns the number of its items.
    package mutating func array() throws(FormatError) -> Int { try length(.array, width: 1) }

    /// Begins an array of at most `limit` items; a longer one is refused before any item takes memory.
    @inline(__always)
    mutating func array(atMost limit: Int) throws(FormatError) -> Int {
        let count = try array()
        guard count <= limit else { throw .malformed("a list of \(count) items, more than \(limit)") }
        return count
    }

    /// Begins a map and returns the number of its pairs.
    package mutating func map() throws(FormatError) -> Int { try length(.map, width: 2) }

    /// Reads false, true or null, the only simple values that the format uses.
    mutating func simple() throws(FormatError) -> UInt8 {
        let byte = try peekByte()
        guard byte == CBOR.false || byte == CBOR.true || byte == CBOR.null else {
            throw .malformed("a CBOR simple value other than false, true and null")
        }
        position += 1
        return byte
    }

    package mutating func boolean() throws(FormatError) -> Bool {
        let value = try simple()
        guard value != CBOR.null else { throw .malformed("null instead of true or false") }
        return value == CBOR.true
    }

    /// Reads a floating-point number, which must have the shortest precision that preserves it.
    package mutating func float() throws(FormatError) -> Double {
        let initial = try peekByte()
        let start = position
        position += 1
        let value: Double
        switch initial {
        case CBOR.half: value = Double(Float16(bitPattern: try bigEndian(UInt16.self)))
        case CBOR.single: value = Double(Float(bitPattern: try bigEndian(UInt32.self)))
        case CBOR.double: value = Double(bitPattern: try bigEndian(UInt64.self))
        default: throw CBORReader.unexpected(initial, wanted: .simple)
        }
        var shortest = CBORWriter()
        shortest.float(value)
        guard bytes(from: start).elementsEqual(shortest.bytes) else {
            throw .malformed("a floating-point number that is not the shortest")
        }
        return value
    }
}

// MARK: - Skipping an item: as strict as reading it, but without memory for its contents

extension CBORReader {
    /// The number of items in the single item in `bytes`, itself included.
    ///
    /// - Throws: `FormatError` if `bytes` are not one valid item.
    package static func countItems(of bytes: [UInt8]) throws(FormatError) -> Int {
        try bytes.withRawBytes { (bytes) throws(FormatError) in
            var reader = CBORReader(bytes)
            let count = try reader.skip(depth: 0)
            try reader.finish()
            return count
        }
    }

    /// Inserts a field into an encoded map, before any field with the same key; nil if `map` is not a map.
    ///
    /// - Throws: `FormatError` if the keys and values up to that place are not valid.
    package static func adding(
        _ key: CBORValue, _ value: CBORValue, toMap map: [UInt8]
    ) throws(FormatError) -> [UInt8]? {
        let key = key.encoded()
        let place: (count: Int, start: Int, offset: Int)? = try map.withRawBytes { (bytes) throws(FormatError) in
            var reader = CBORReader(bytes)
            guard CBORMajor(rawValue: try reader.peek()) == .map else { return nil }
            let count = try reader.map()
            let start = reader.position
            for _ in 0..<count {
                let offset = reader.position
                try reader.skip(depth: 1)
                guard reader.bytes(from: offset).lexicographicallyPrecedes(key) else { return (count, start, offset) }
                try reader.skip(depth: 1)
            }
            return (count, start, reader.position)
        }
        guard let place else { return nil }
        var writer = CBORWriter()
        writer.map(count: place.count + 1)
        return writer.bytes + map[place.start..<place.offset] + key + value.encoded() + map[place.offset...]
    }

    /// Skips the next item, which is nested in `depth` arrays and maps.
    ///
    /// - Returns: the number of items skipped, nested ones included.
    /// - Throws: `FormatError` unless the bytes are the deterministic encoding of an item.
    @discardableResult
    mutating func skip(depth: Int) throws(FormatError) -> Int {
        var count = 1
        switch CBORMajor(rawValue: try peek()) {
        case .unsigned: _ = try unsigned()
        case .negative: _ = try negativeComplement()
        case .bytes: _ = try byteString()
        case .text: _ = try text()
        case .array:
            try CBORReader.checkDepth(depth + 1)
            for _ in 0..<(try array()) { count += try skip(depth: depth + 1) }
        case .map:
            try CBORReader.checkDepth(depth + 1)
            var keys = CBORKeyOrder()
            for _ in 0..<(try map()) {
                let start = position
                count += try skip(depth: depth + 1)
                try keys.check(bytes(from: start))
                count += try skip(depth: depth + 1)
            }
        case .tag: throw .malformed("a CBOR tag")
        case .simple:
            switch try peekByte() {
            case CBOR.half, CBOR.single, CBOR.double: _ = try float()
            default: _ = try simple()
            }
        case nil: throw .malformed("a CBOR head")
        }
        return count
    }

    static func checkDepth(_ depth: Int) throws(FormatError) {
        guard depth <= CBOR.depthLimit else { throw .malformed("CBOR nested too deeply") }
    }
}

/// Checks the order of a map's keys: ascending by their encodings, without duplicates.
struct CBORKeyOrder {
    private var previous: UnsafeRawBufferPointer?

    /// Checks the encoding of the next key against the previous one.
    mutating func check(_ key: UnsafeRawBufferPointer) throws(FormatError) {
        if let previous, !previous.lexicographicallyPrecedes(key) {
            throw .malformed("CBOR map keys out of order or repeated")
        }
        previous = key
    }
}
