// Passing over an item that nobody wants to know: strictly, and without memory for what is in it.

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
