// Deterministic CBOR read item by item, strictly: whatever has another, shorter or sorted encoding is refused.

/// Reads CBOR items from memory that outlives the reader.
///
/// Never trusts a claimed length: what a head announces must still be in the input.
package struct CBORReader {
    private let input: UnsafeRawBufferPointer
    /// How many bytes were read.
    package private(set) var position = 0

    package init(_ input: UnsafeRawBufferPointer) {
        self.input = input
    }

    /// Bytes left.
    package var remaining: Int { input.count - position }

    /// Goes on at `position`, where an item begins.
    mutating func seek(to position: Int) { self.position = position }

    /// Checks that everything was read.
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

    /// The next byte, not read yet.
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
        .malformed("a CBOR item of type \(initial >> 5) where type \(wanted.rawValue) belongs")
    }

    /// A length that the rest of the input can hold, `width` bytes at least for each.
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

    /// A negative integer as `n` in `-1 - n`.
    mutating func negativeComplement() throws(FormatError) -> UInt64 { try head(.negative) }

    /// A byte string, without a copy.
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

    /// Begins an array: how many items follow.
    package mutating func array() throws(FormatError) -> Int { try length(.array, width: 1) }

    /// Begins an array of at most `limit` items: a list is refused by its length before any of it takes memory.
    @inline(__always)
    mutating func array(atMost limit: Int) throws(FormatError) -> Int {
        let count = try array()
        guard count <= limit else { throw .malformed("a list of \(count) items, more than \(limit)") }
        return count
    }

    /// Begins a map: how many pairs follow.
    package mutating func map() throws(FormatError) -> Int { try length(.map, width: 2) }

    /// False, true or null: the simple values that are used.
    mutating func simple() throws(FormatError) -> UInt8 {
        let byte = try peekByte()
        guard byte == CBOR.false || byte == CBOR.true || byte == CBOR.null else {
            throw .malformed("a CBOR simple value that is not used")
        }
        position += 1
        return byte
    }

    package mutating func boolean() throws(FormatError) -> Bool {
        let value = try simple()
        guard value != CBOR.null else { throw .malformed("null where true or false belongs") }
        return value == CBOR.true
    }

    /// A number in the shortest precision that keeps it.
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

// MARK: - Passing over an item that nobody wants to know: strictly, and without memory for what is in it

extension CBORReader {
    /// How many items are in the one that `bytes` are, itself counted.
    ///
    /// - Throws: `FormatError` where they are anything else.
    package static func countItems(of bytes: [UInt8]) throws(FormatError) -> Int {
        try bytes.decode { (bytes) throws(FormatError) in
            var reader = CBORReader(bytes)
            let count = try reader.skip(depth: 0)
            try reader.finish()
            return count
        }
    }

    /// The map that `map` is with a field more, which comes before one of the same key; nil where it is no map.
    package static func adding(
        _ key: CBORValue, _ value: CBORValue, toMap map: [UInt8]
    ) throws(FormatError) -> [UInt8]? {
        let key = key.encoded()
        let place: (count: Int, start: Int, offset: Int)? = try map.decode { (bytes) throws(FormatError) in
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

    /// Passes over the next item, which is inside `depth` arrays and maps.
    ///
    /// - Returns: how many items it was, those in it counted.
    /// - Throws: `FormatError` for what is not the one deterministic encoding of an item.
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

/// The order of a map's keys: ascending by their encodings, each once.
struct CBORKeyOrder {
    private var previous: UnsafeRawBufferPointer?

    /// Takes the next key's encoding.
    mutating func check(_ key: UnsafeRawBufferPointer) throws(FormatError) {
        if let previous, !previous.lexicographicallyPrecedes(key) {
            throw .malformed("CBOR map keys out of order or repeated")
        }
        previous = key
    }
}
