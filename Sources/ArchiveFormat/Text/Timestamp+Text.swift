// Timestamps as RFC 3339 text in UTC. Codable values use this text too, except in CBOR: there a timestamp is an array
// of seconds and nanoseconds.

public import FileIO

extension Timestamp {
    /// The instant as RFC 3339 text in UTC, always with nine digits of fraction: "2026-11-21T10:15:30.123456789Z".
    ///
    /// In the years 0000 to 9999 texts sort by time. Other years, which RFC 3339 lacks, get a sign as in ISO 8601.
    public var rfc3339: String {
        let date = CivilDate(self)
        let sign = (0...9999).contains(date.year) ? "" : date.year < 0 ? "-" : "+"
        let year = sign + DecimalDigits.string(date.year.magnitude, digits: 4)
        let month = DecimalDigits.string(date.month, digits: 2)
        let day = DecimalDigits.string(date.day, digits: 2)
        let hour = DecimalDigits.string(date.hour, digits: 2)
        let minute = DecimalDigits.string(date.minute, digits: 2)
        let second = DecimalDigits.string(date.second, digits: 2)
        return "\(year)-\(month)-\(day)T\(hour):\(minute):\(second).\(DecimalDigits.string(nanoseconds, digits: 9))Z"
    }

    /// Parses an RFC 3339 text with `Z` or an offset; nil for any other text.
    ///
    /// It also accepts a space or a `t` in place of `T`, `z` for `Z`, and a signed year as `rfc3339` writes it. Digits
    /// after the ninth of the fraction are ignored.
    public init?(rfc3339 text: String) {
        var scanner = DigitScanner(text)
        let sign = scanner.take(anyOf: "+-")
        guard let year = scanner.digits(sign == nil ? 4...4 : 4...12), scanner.take(anyOf: "-") != nil,
            let month = scanner.digits(2...2), scanner.take(anyOf: "-") != nil,
            let day = scanner.digits(2...2), scanner.take(anyOf: "Tt ") != nil,
            let hour = scanner.digits(2...2), scanner.take(anyOf: ":") != nil,
            let minute = scanner.digits(2...2), scanner.take(anyOf: ":") != nil,
            let second = scanner.digits(2...2)
        else { return nil }
        var nanoseconds: UInt32 = 0
        if scanner.take(anyOf: ".") != nil {
            guard let fraction = scanner.fraction() else { return nil }
            nanoseconds = fraction
        }
        guard let offset = scanner.offset(), scanner.isAtEnd else { return nil }
        let date = CivilDate(
            year: sign == UInt8(ascii: "-") ? -Int64(year) : Int64(year), month: month, day: day, hour: hour,
            minute: minute, second: second)
        guard let local = date.seconds else { return nil }
        let (seconds, overflowed) = local.subtractingReportingOverflow(offset)
        guard !overflowed else { return nil }
        self.init(seconds: seconds, nanoseconds: nanoseconds)
    }
}

extension Timestamp: CustomStringConvertible {
    /// The instant as RFC 3339 text in UTC.
    public var description: String { rfc3339 }
}

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
