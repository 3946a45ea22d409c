// Instants in Codable values: an array of seconds and nanoseconds in CBOR, RFC 3339 text elsewhere.

public import FileIO

extension Timestamp: Codable {
    public init(from decoder: any Decoder) throws {
        guard decoder is CBORValueDecoder else {
            let text = try decoder.singleValueContainer().decode(String.self)
            guard let time = Timestamp(rfc3339: text) else { throw decoder.corrupted("not a time (RFC 3339)") }
            self = time
            return
        }
        var container = try decoder.unkeyedContainer()
        self.init(seconds: try container.decode(Int64.self))
        if !container.isAtEnd { nanoseconds = try container.decode(UInt32.self) }
        guard nanoseconds < 1_000_000_000, container.isAtEnd else { throw decoder.corrupted("not a time") }
    }

    public func encode(to encoder: any Encoder) throws {
        guard encoder is CBORValueEncoder else {
            var container = encoder.singleValueContainer()
            try container.encode(rfc3339)
            return
        }
        var container = encoder.unkeyedContainer()
        try container.encode(seconds)
        if nanoseconds != 0 { try container.encode(nanoseconds) }
    }
}

extension Decoder {
    /// The error for a value here that breaks a rule of the format.
    func corrupted(_ description: String, because cause: (any Error)? = nil) -> DecodingError {
        .dataCorrupted(.init(codingPath: codingPath, debugDescription: description, underlyingError: cause))
    }

    /// Gives the errors of `check` the coding path of this place.
    func checking<Result>(_ check: () throws(FormatError) -> Result) throws -> Result {
        do {
            return try check()
        } catch {
            throw corrupted(error.description, because: error)
        }
    }
}
