// Converts CBOR to JSON text without decoding it to values first: 16 MB of small items would take gigabytes as values.

/// Writes a CBOR item as JSON, just as Foundation's JSON encoder writes the original value with sorted keys.
///
/// Integer keys become texts, byte strings become base64. A key that is an array or a map, which no `Codable` value
/// has, becomes `cbor:` and the base64 of its CBOR. Infinities and NaN, which JSON has no numbers for, become texts.
package struct CBORJSONWriter {
    /// Receives the text in pieces; no character is split between two pieces.
    package typealias Sink = ([UInt8]) throws -> Void

    private let input: UnsafeRawBufferPointer
    private let isPretty: Bool
    private var reader: CBORReader
    private var buffer: [UInt8] = []
    private var level = 0

    private static let pieceBytes = 64 << 10
    /// Deeper levels stay on one line: indentation could turn a few bytes of brackets into gigabytes of blanks.
    private static let indentedLevels = 32

    /// Writes the single item in `bytes`, which are at most 4 GiB.
    ///
    /// - Parameter pretty: whether to use several indented lines; levels deeper than 32 are still on one line.
    /// - Throws: `FormatError` if `bytes` are not one valid item; errors that `sink` throws.
    package static func write(_ bytes: UnsafeRawBufferPointer, pretty: Bool, to sink: Sink) throws {
        var writer = CBORJSONWriter(input: bytes, isPretty: pretty, reader: CBORReader(bytes))
        try writer.item(sink)
        try writer.reader.finish()
        try sink(writer.buffer)
    }

    private init(input: UnsafeRawBufferPointer, isPretty: Bool, reader: CBORReader) {
        self.input = input
        self.isPretty = isPretty
        self.reader = reader
    }

    private mutating func item(_ sink: Sink) throws {
        try handOver(sink)
        switch CBORMajor(rawValue: try reader.peek()) {
        case .array: try array(sink)
        case .map: try map(sink)
        default: try plain(sink)
        }
    }

    /// Passes the buffer to `sink` once it has the size of a piece.
    private mutating func handOver(_ sink: Sink) throws {
        guard buffer.count >= CBORJSONWriter.pieceBytes else { return }
        try sink(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    private mutating func plain(_ sink: Sink) throws {
        switch CBORMajor(rawValue: try reader.peek()) {
        case .unsigned: buffer += "\(try reader.unsigned())".utf8
        case .negative: buffer += "\(~Int128(try reader.negativeComplement()))".utf8
        case .bytes: try quote(Base64.string(Array(try reader.byteString())).utf8, sink)
        case .text: try quote(try reader.text().utf8, sink)
        default:
            switch try reader.peekByte() {
            case CBOR.half, CBOR.single, CBOR.double: try number(try reader.float(), sink)
            default:
                let byte = try reader.simple()
                buffer += (byte == CBOR.null ? "null" : byte == CBOR.true ? "true" : "false").utf8
            }
        }
    }

    private mutating func number(_ value: Double, _ sink: Sink) throws {
        guard value.isFinite else { return try quote(NonFinite.text(of: value).utf8, sink) }
        let text = "\(value)"
        buffer += (text.hasSuffix(".0") ? text.dropLast(2) : text[...]).utf8
    }

    // MARK: Arrays and maps

    private mutating func array(_ sink: Sink) throws {
        let count = try reader.array()
        begin("[", count)
        for index in 0..<count {
            if index > 0 { buffer.append(UInt8(ascii: ",")) }
            if index > 0 { line() }
            try item(sink)
        }
        end("]")
    }

    private mutating func map(_ sink: Sink) throws {
        let count = try reader.map()
        begin("{", count)
        var isFirst = true
        func separate(_ writer: inout CBORJSONWriter) {
            if !isFirst {
                writer.buffer.append(UInt8(ascii: ","))
                writer.line()
            }
            isFirst = false
        }
        if count == 1 {
            separate(&self)
            try field(sink)
        } else if count > 1 {
            var keys: [UInt32] = []
            keys.reserveCapacity(count)
            for _ in 0..<count {
                keys.append(UInt32(reader.position))
                try reader.skip(depth: level)
                try reader.skip(depth: level)
            }
            let end = reader.position
            // Of keys with the same text the last one counts, as in a decoder that reads them in order.
            try keys.sort { left, right in
                let (first, second) = (try key(at: left), try key(at: right))
                return first == second ? left < right : first.lexicographicallyPrecedes(second)
            }
            for (index, key) in keys.enumerated() {
                if index + 1 < keys.count, try self.key(at: key) == self.key(at: keys[index + 1]) { continue }
                separate(&self)
                reader.seek(to: Int(key))
                try field(sink)
            }
            reader.seek(to: end)
        }
        self.end("}")
    }

    /// Writes the next key and its value.
    private mutating func field(_ sink: Sink) throws {
        let start = reader.position
        try quote(try key(at: UInt32(start)), sink)
        try reader.skip(depth: level)
        buffer += (isPretty ? " : " : ":").utf8
        try item(sink)
    }

    /// The text for the key at `position`: a text key unchanged, any other plain item as its JSON.
    ///
    /// An array or a map becomes `cbor:` and base64 instead. As JSON within JSON, each level would escape the keys
    /// below it again, and a few bytes would become gigabytes of backslashes.
    private func key(at position: UInt32) throws -> [UInt8] {
        var writer = CBORJSONWriter(input: input, isPretty: false, reader: CBORReader(input))
        writer.reader.seek(to: Int(position))
        switch CBORMajor(rawValue: try writer.reader.peek()) {
        case .text: return Array(try writer.reader.text().utf8)
        case .bytes: return Array(("\"" + Base64.string(Array(try writer.reader.byteString())) + "\"").utf8)
        case .array, .map:
            try writer.reader.skip(depth: level)
            return Array(("cbor:" + Base64.string(Array(input[Int(position)..<writer.reader.position]))).utf8)
        default:
            try writer.plain { _ in }
            return writer.buffer
        }
    }

    private mutating func begin(_ bracket: String, _ count: Int) {
        buffer += bracket.utf8
        level += 1
        if count > 0 {
            line()
        } else if isPretty, level <= CBORJSONWriter.indentedLevels {
            buffer.append(UInt8(ascii: "\n"))
        }
    }

    private mutating func end(_ bracket: String) {
        let isIndented = level <= CBORJSONWriter.indentedLevels
        level -= 1
        if isIndented { line() }
        buffer += bracket.utf8
    }

    private mutating func line() {
        guard isPretty, level <= CBORJSONWriter.indentedLevels else { return }
        buffer.append(UInt8(ascii: "\n"))
        for _ in 0..<level { buffer += "  ".utf8 }
    }

    // MARK: Texts

    private mutating func quote(_ text: some Sequence<UInt8>, _ sink: Sink) throws {
        buffer.append(UInt8(ascii: "\""))
        for byte in text {
            // Pieces end only where a character begins.
            if byte & 0xc0 != 0x80 { try handOver(sink) }
            switch byte {
            case UInt8(ascii: "\""): buffer += "\\\"".utf8
            case UInt8(ascii: "\\"): buffer += "\\\\".utf8
            case 0x08: buffer += "\\b".utf8
            case 0x09: buffer += "\\t".utf8
            case 0x0a: buffer += "\\n".utf8
            case 0x0c: buffer += "\\f".utf8
            case 0x0d: buffer += "\\r".utf8
            case 0..<0x20:
                let digits = String(byte, radix: 16)
                buffer += "\\u00\(byte < 16 ? "0" : "")\(digits)".utf8
            default: buffer.append(byte)
            }
        }
        buffer.append(UInt8(ascii: "\""))
    }
}

/// The texts for numbers that JSON cannot represent.
package enum NonFinite {
    package static let infinity = "Infinity"
    package static let negativeInfinity = "-Infinity"
    package static let nan = "NaN"

    package static func text(of value: Double) -> String {
        value.isNaN ? nan : value > 0 ? infinity : negativeInfinity
    }
}
