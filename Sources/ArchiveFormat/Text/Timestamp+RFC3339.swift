// Instants as text: RFC 3339, in UTC.

public import FileIO

extension Timestamp {
    /// The instant as RFC 3339 text in UTC, always with nine digits of fraction: "2026-11-21T10:15:30.123456789Z".
    ///
    /// Texts of one length sort as their instants do. Years that RFC 3339 cannot say get a sign, as in ISO 8601.
    public var rfc3339: String {
        let date = CivilDate(self)
        let sign = (0...9999).contains(date.year) ? "" : date.year < 0 ? "-" : "+"
        let year = sign + Decimal.string(date.year.magnitude, digits: 4)
        let month = Decimal.string(date.month, digits: 2)
        let day = Decimal.string(date.day, digits: 2)
        let hour = Decimal.string(date.hour, digits: 2)
        let minute = Decimal.string(date.minute, digits: 2)
        let second = Decimal.string(date.second, digits: 2)
        return "\(year)-\(month)-\(day)T\(hour):\(minute):\(second).\(Decimal.string(nanoseconds, digits: 9))Z"
    }

    /// The instant written as an RFC 3339 text with `Z` or an offset; nil for anything else.
    ///
    /// Also taken: a space or a small `t` or `z`, and a signed year as `rfc3339` writes it. Digits after the ninth of the fraction do
    /// not count.
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

/// Decimal numbers of fixed width.
enum Decimal {
    /// The number with zeros in front up to `digits` digits.
    static func string(_ number: some BinaryInteger, digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}

/// Takes numbers and separators from the front of ASCII text.
struct DigitScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    /// Takes the next character if it is one of `characters`.
    mutating func take(anyOf characters: String) -> UInt8? {
        guard let first = rest.first, characters.utf8.contains(first) else { return nil }
        rest.removeFirst()
        return first
    }

    /// Takes a number of as many digits as `width` allows.
    mutating func digits(_ width: ClosedRange<Int>) -> Int? {
        let digits = rest.prefix(width.upperBound).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard digits.count >= width.lowerBound else { return nil }
        rest.removeFirst(digits.count)
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// Takes the digits of a decimal fraction, as billionths.
    fileprivate mutating func fraction() -> UInt32? {
        let before = rest.count
        guard var value = digits(1...9) else { return nil }
        for _ in (before - rest.count)..<9 { value *= 10 }
        while digits(1...9) != nil {}
        return UInt32(value)
    }

    /// Takes `Z` or an offset from UTC, in seconds.
    fileprivate mutating func offset() -> Int64? {
        if take(anyOf: "Zz") != nil { return 0 }
        guard let sign = take(anyOf: "+-"), let hours = digits(2...2), take(anyOf: ":") != nil,
            let minutes = digits(2...2), hours < 24, minutes < 60
        else { return nil }
        let offset = Int64(hours * 3600 + minutes * 60)
        return sign == UInt8(ascii: "-") ? -offset : offset
    }
}
