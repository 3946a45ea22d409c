// Maps with numbered fields, and items that occur in many values.

internal import FileIO

/// The key of a field in an encoded value: a small number in CBOR, a name in text formats.
protocol FieldKey: CodingKey, RawRepresentable<Int> {}

extension CBORWriter {
    @inline(__always)
    mutating func key(_ key: some FieldKey) { unsigned(UInt64(truncatingIfNeeded: key.rawValue)) }

    mutating func chunkID(_ id: ChunkID) { id.withUnsafeBytes { byteString($0) } }

    /// Appends an array of seconds and nanoseconds; nanoseconds of 0 are left out.
    mutating func timestamp(_ time: Timestamp) {
        array(count: time.nanoseconds == 0 ? 1 : 2)
        integer(time.seconds)
        if time.nanoseconds != 0 { unsigned(UInt64(time.nanoseconds)) }
    }
}

extension CBORReader {
    /// Begins a closed map: it has only the keys of `Key`.
    @inline(__always)
    mutating func fields<Key: FieldKey>(_ type: Key.Type) throws(FormatError) -> CBORFields<Key> {
        CBORFields(count: try map())
    }

    /// Begins an open map: keys that `Key` does not have belong to later programs and are skipped.
    ///
    /// - Parameter depth: the number of arrays and maps around this map.
    mutating func openFields<Key: FieldKey>(_ type: Key.Type, depth: Int) throws(FormatError) -> CBOROpenFields<Key> {
        CBOROpenFields(count: try map(), depth: depth)
    }

    mutating func chunkID() throws(FormatError) -> ChunkID {
        let bytes = try byteString()
        guard bytes.count == ChunkID.byteCount else { throw .malformed("an id that is not 32 bytes long") }
        return ChunkID(exactly: bytes)
    }

    mutating func timestamp() throws(FormatError) -> Timestamp {
        let count = try array()
        guard count == 1 || count == 2 else { throw .malformed("a time of \(count) numbers") }
        let seconds = try integer()
        if count == 1 { return Timestamp(seconds: seconds) }
        let nanoseconds = try present(unsigned(UInt32.self))
        guard nanoseconds < 1_000_000_000 else { throw .malformed("nanoseconds of a second or more") }
        return Timestamp(seconds: seconds, nanoseconds: nanoseconds)
    }

    /// Reads a byte string that is left out when it is empty, so an empty one is refused.
    mutating func presentByteString() throws(FormatError) -> UnsafeRawBufferPointer {
        let bytes = try byteString()
        guard !bytes.isEmpty else { throw .malformed("a default value that is written out") }
        return bytes
    }

    /// Reads a text that is left out when it is empty, so an empty one is refused.
    mutating func presentText() throws(FormatError) -> String {
        let text = try text()
        guard !text.isEmpty else { throw .malformed("a default value that is written out") }
        return text
    }

    /// Returns `value`, but refuses a zero, which should have been left out.
    @inline(__always)
    func present<Number: FixedWidthInteger>(_ value: Number) throws(FormatError) -> Number {
        guard value != 0 else { throw .malformed("a default value that is written out") }
        return value
    }
}

/// Reads the keys of a closed map, which are in strictly ascending order.
struct CBORFields<Key: FieldKey> {
    private var left: Int
    private var previous = -1

    init(count: Int) { left = count }

    /// The next key; nil after the last value.
    @inline(__always)
    mutating func next(_ reader: inout CBORReader) throws(FormatError) -> Key? {
        if left == 0 { return nil }
        left -= 1
        let number = try reader.unsigned(UInt8.self)
        guard Int(number) > previous else { throw .malformed("CBOR map keys out of order or repeated") }
        guard let key = Key(rawValue: Int(number)) else { throw .malformed("an unknown field \(number)") }
        previous = Int(number)
        return key
    }

    /// The next known key; nil after the last value.
    ///
    /// Fields with keys from `first` on are added to `passed`.
    @inline(__always)
    mutating func next(
        _ reader: inout CBORReader, orPassing first: UInt64, into passed: inout [UInt8]
    ) throws(FormatError) -> Key? {
        if left == 0 { return nil }
        left -= 1
        let start = reader.position
        let number = try reader.unsigned(UInt8.self)
        guard Int(number) > previous else { throw .malformed("CBOR map keys out of order or repeated") }
        previous = Int(number)
        if let key = Key(rawValue: Int(number)) { return key }
        guard number >= first else { throw .malformed("an unknown field \(number)") }
        try pass(&reader, from: start, into: &passed)
        return nil
    }

    /// Adds all that is left of the map, which begins at `start`, to `passed`.
    private mutating func pass(
        _ reader: inout CBORReader, from start: Int, into passed: inout [UInt8]
    ) throws(FormatError) {
        // The map is in an entry, in an array, in a node.
        try reader.skip(depth: 3)
        while left > 0 {
            left -= 1
            let number = try reader.unsigned(UInt8.self)
            guard Int(number) > previous else { throw .malformed("CBOR map keys out of order or repeated") }
            previous = Int(number)
            try reader.skip(depth: 3)
        }
        passed = Array(reader.bytes(from: start))
    }
}

/// Reads the keys of an open map, which are in strictly ascending order.
struct CBOROpenFields<Key: FieldKey> {
    private var left: Int
    private var previous: UInt64?
    private let depth: Int
    /// Whether a key was skipped because `Key` does not have it.
    private(set) var hasUnknown = false

    fileprivate init(count: Int, depth: Int) {
        left = count
        self.depth = depth
    }

    /// The next known key; nil after the last value.
    mutating func next(_ reader: inout CBORReader) throws(FormatError) -> Key? {
        while left > 0 {
            left -= 1
            let number = try reader.unsigned()
            if let previous, number <= previous { throw .malformed("CBOR map keys out of order or repeated") }
            previous = number
            if let key = Int(exactly: number).flatMap(Key.init(rawValue:)) { return key }
            hasUnknown = true
            try reader.skip(depth: depth + 1)
        }
        return nil
    }
}

extension CBORWriter {
    /// Appends a path, unless it is the root.
    ///
    /// - Returns: the number of fields written.
    mutating func path(_ path: RelativePath, _ key: some FieldKey) -> Int {
        if path.isRoot { return 0 }
        self.key(key)
        byteString(path.bytes)
        return 1
    }
}

extension CBORReader {
    /// Reads a complete path; the root is left out, so an empty path is refused.
    mutating func path() throws(FormatError) -> RelativePath {
        try RelativePath(sharing: 0, of: nil, suffix: presentByteString())
    }
}
