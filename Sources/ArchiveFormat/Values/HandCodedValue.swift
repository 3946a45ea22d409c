// Makes nodes and slice lists Codable through their only codec, which is written by hand.

/// A value in a chunk with a hand-written codec, which is several times as fast as `Codable`.
protocol HandCodedValue {
    /// The value as a chunk's bytes.
    func encoded() -> [UInt8]

    /// Reads a value; throws for any bytes that `encoded()` does not return.
    init(decoding bytes: [UInt8]) throws(FormatError)
}

extension HandCodedValue {
    /// Encodes the value as its CBOR item, or as the base64 of its bytes in other formats.
    fileprivate func encodeItem(to encoder: any Encoder) throws {
        if let encoder = CBORValueEncoder(encoder) {
            encoder.write(try CBORValue(decoding: encoded()))
        } else {
            var container = encoder.singleValueContainer()
            try container.encode(Base64.string(encoded()))
        }
    }

    fileprivate init(item decoder: any Decoder) throws {
        let bytes: [UInt8]
        if CBORValueDecoder(decoder) != nil {
            bytes = try CBORValue(of: decoder).encoded()
        } else {
            let text = try decoder.singleValueContainer().decode(String.self)
            guard let decoded = Base64.bytes(text) else { throw decoder.corrupted("not base64 (RFC 4648 §4)") }
            bytes = decoded
        }
        self = try decoder.checking { () throws(FormatError) in try Self(decoding: bytes) }
    }
}

extension Node: Codable, HandCodedValue {
    package init(from decoder: any Decoder) throws { try self.init(item: decoder) }
    package func encode(to encoder: any Encoder) throws { try encodeItem(to: encoder) }
}

extension SliceList: Codable, HandCodedValue {
    package init(from decoder: any Decoder) throws { try self.init(item: decoder) }
    package func encode(to encoder: any Encoder) throws { try encodeItem(to: encoder) }
}
