// Decimal numbers of fixed width in dates and file names, written and read.

/// Decimal numbers of fixed width.
enum DecimalDigits {
    /// The number, padded with leading zeros to `digits` digits.
    static func string(_ number: some BinaryInteger, digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}

/// Reads numbers and separators from the front of ASCII text.
struct DigitScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    /// Reads the next character if it is one of `characters`.
    mutating func take(anyOf characters: String) -> UInt8? {
        guard let first = rest.first, characters.utf8.contains(first) else { return nil }
        rest.removeFirst()
        return first
    }

    /// Reads a number with as many digits as possible within `width`; nil if there are too few.
    mutating func digits(_ width: ClosedRange<Int>) -> Int? {
        let digits = rest.prefix(width.upperBound).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard digits.count >= width.lowerBound else { return nil }
        rest.removeFirst(digits.count)
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// Reads the digits of a decimal fraction as billionths.
    mutating func fraction() -> UInt32? {
        let before = rest.count
        guard var value = digits(1...9) else { return nil }
        for _ in (before - rest.count)..<9 { value *= 10 }
        while digits(1...9) != nil {}
        return UInt32(value)
    }

    /// Reads `Z` or an offset from UTC, in seconds.
    mutating func offset() -> Int64? {
        if take(anyOf: "Zz") != nil { return 0 }
        guard let sign = take(anyOf: "+-"), let hours = digits(2...2), take(anyOf: ":") != nil,
            let minutes = digits(2...2), hours < 24, minutes < 60
        else { return nil }
        let offset = Int64(hours * 3600 + minutes * 60)
        return sign == UInt8(ascii: "-") ? -offset : offset
    }
}
