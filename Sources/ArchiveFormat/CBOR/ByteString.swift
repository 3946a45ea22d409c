// Bytes in Codable values, among them paths: a byte string in CBOR, readable text in other formats.

package import FileIO

/// Bytes that CBOR encodes as one byte string instead of an array of numbers.
///
/// In text formats such as JSON they are a string if they are UTF-8, otherwise an object with the single key `base64`.
package struct ByteString: Hashable, Sendable {
    /// The bytes.
    package var bytes: [UInt8]

    /// The byte string with these bytes.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }
}

extension ByteString: Codable {
    private enum CodingKeys: String, CodingKey {
        case base64
    }

    package init(from decoder: any Decoder) throws {
        if let decoder = CBORValueDecoder(decoder) {
            bytes = try decoder.byteString()
        } else if let text = try? decoder.singleValueContainer().decode(String.self) {
            bytes = Array(text.utf8)
        } else {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            guard let bytes = Base64.bytes(try container.decode(String.self, forKey: .base64)) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .base64, in: container, debugDescription: "not base64 (RFC 4648 §4)")
            }
            self.bytes = bytes
        }
    }

    package func encode(to encoder: any Encoder) throws {
        if let encoder = CBORValueEncoder(encoder) {
            encoder.write(.bytes(bytes))
        } else if let text = String(validating: bytes, as: UTF8.self) {
            var container = encoder.singleValueContainer()
            try container.encode(text)
        } else {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(Base64.string(bytes), forKey: .base64)
        }
    }
}

extension RelativePath: Codable {
    package init(from decoder: any Decoder) throws {
        guard let path = RelativePath(try ByteString(from: decoder).bytes) else {
            throw decoder.corrupted("not a path below a root")
        }
        self = path
    }

    package func encode(to encoder: any Encoder) throws { try ByteString(bytes).encode(to: encoder) }
}
