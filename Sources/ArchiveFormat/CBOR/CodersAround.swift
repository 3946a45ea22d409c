// Coders that wrap another coder: values with a special CBOR encoding find the CBOR coder inside.

/// An encoder that wraps another encoder.
package protocol EncoderAround: Encoder {
    /// The wrapped encoder.
    var base: any Encoder { get }
    /// The encoder for a value that is a single item; accessed only for such a value.
    var encoder: any Encoder { get }
}

/// A decoder that wraps another decoder.
package protocol DecoderAround: Decoder {
    /// The wrapped decoder.
    var decoder: any Decoder { get }
}

extension CBORValueEncoder {
    /// The CBOR encoder that `encoder` is or wraps; nil if there is none.
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
    /// The CBOR decoder that `decoder` is or wraps; nil if there is none.
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
