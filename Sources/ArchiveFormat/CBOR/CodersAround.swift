// Coders that work with another one: a value that has an item of its own in CBOR looks through them.

/// An encoder that encodes with another one.
package protocol EncoderAround: Encoder {
    /// The other encoder.
    var base: any Encoder { get }
    /// The encoder for a value that is one item; asked for only where there is such a value.
    var encoder: any Encoder { get }
}

/// A decoder that decodes with another one.
package protocol DecoderAround: Decoder {
    /// The other decoder.
    var decoder: any Decoder { get }
}

extension CBORValueEncoder {
    /// The encoder of CBOR that `encoder` is, or works with.
    init?(_ encoder: any Encoder) {
        if let encoder = encoder as? CBORValueEncoder {
            self = encoder
        } else if let around = encoder as? any EncoderAround, CBORValueEncoder(around.base) != nil {
            self.init(around.encoder)
        } else {
            return nil
        }
    }
}

extension CBORValueDecoder {
    /// The decoder of CBOR that `decoder` is, or works with.
    init?(_ decoder: any Decoder) {
        if let decoder = decoder as? CBORValueDecoder {
            self = decoder
        } else if let around = decoder as? any DecoderAround {
            self.init(around.decoder)
        } else {
            return nil
        }
    }
}
