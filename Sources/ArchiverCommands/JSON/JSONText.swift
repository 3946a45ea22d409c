// Values as JSON text: sorted keys, unescaped slashes, one value per line.

internal import ArchiveFormat
internal import FileIO

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Encodes values as JSON on one line.
enum JSONText {
    static func of(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

/// Writes a JSON array value by value, so that it can be larger than memory.
struct JSONArrayWriter {
    private let output: Output
    private var isEmpty = true

    /// Writes the opening bracket.
    init(_ output: Output) throws {
        self.output = output
        try output.write("[")
    }

    mutating func append(_ value: some Encodable) throws {
        try output.write((isEmpty ? "\n" : ",\n") + JSONText.of(value))
        isEmpty = false
    }

    /// Writes the closing bracket.
    func finish() throws { try output.line(isEmpty ? "]" : "\n]") }
}

extension KeyedEncodingContainer<JSONKey> {
    /// Encodes a path as text, and additionally as base64 under `…Bytes` if it is not UTF-8.
    mutating func encode(bytes: some Collection<UInt8>, forKey key: JSONKey) throws {
        let bytes = Array(bytes)
        try encode(String(decoding: bytes, as: UTF8.self), forKey: key)
        if String(validating: bytes, as: UTF8.self) == nil {
            try encode(Base64.string(bytes), forKey: key.bytes)
        }
    }

    mutating func encode(_ time: Timestamp, forKey key: JSONKey) throws {
        try encode(time.rfc3339, forKey: key)
    }
}
