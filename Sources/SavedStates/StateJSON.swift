// A saved state of any type as JSON.

package import ArchiveFormat

/// A CBOR item that is encoded as JSON as Foundation's encoder would write the saved value.
///
/// Integer keys become texts and byte strings base64. Infinities and NaN, which JSON cannot represent as numbers,
/// become the texts `Infinity`, `-Infinity` and `NaN`, which `StateFile` reads. A state does not record which of its
/// objects were a `Decimal`, so a `Decimal` is written as the object that it is encoded as.
package struct StateJSON: Encodable, Sendable {
    package let item: CBORValue

    package init(_ item: CBORValue) { self.item = item }

    /// The JSON on one line, with sorted keys.
    ///
    /// - Parameter limit: the number of bytes after which it is cut and ends with "…".
    package func compact(limit: Int = .max) throws -> String {
        struct LimitReached: Error {}
        var text: [UInt8] = []
        do {
            try item.encoded().withUnsafeBytes { bytes in
                try CBORJSONWriter.write(bytes, pretty: false) { piece in
                    text += piece
                    if text.count > limit { throw LimitReached() }
                }
            }
        } catch is LimitReached {
            return String(decoding: text, as: UTF8.self) + "…"
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The text for `key` of a map.
    package static func text(ofKey key: CBORValue) throws -> String {
        switch key {
        case .text(let text): text
        // No Codable value has other keys.
        default: try StateJSON(key).compact()
        }
    }

    // MARK: Encodable

    package func encode(to encoder: any Encoder) throws {
        switch item {
        case .array(let items):
            var container = encoder.unkeyedContainer()
            for item in items { try container.encode(StateJSON(item)) }
        case .map(let pairs):
            var container = encoder.container(keyedBy: Key.self)
            for (key, value) in pairs {
                try container.encode(StateJSON(value), forKey: Key(StateJSON.text(ofKey: key)))
            }
        default:
            var container = encoder.singleValueContainer()
            try encodePlain(to: &container)
        }
    }

    private func encodePlain(to container: inout any SingleValueEncodingContainer) throws {
        switch item {
        case .unsigned(let value): try container.encode(value)
        case .negative(let complement):
            if let complement = Int64(exactly: complement) {
                try container.encode(~complement)
            } else {
                try container.encode(~Int128(complement))
            }
        case .float(let value) where value.isFinite: try container.encode(value)
        case .float(let value): try container.encode(NonFinite.text(of: value))
        case .bytes(let bytes): try container.encode(Base64.string(bytes))
        case .text(let text): try container.encode(text)
        case .boolean(let value): try container.encode(value)
        case .null, .array, .map: try container.encodeNil()
        }
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ text: String) { stringValue = text }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
