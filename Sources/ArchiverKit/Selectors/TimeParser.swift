// Times as people write them: back from now, or by calendar and clock in local time.

internal import FileIO
internal import Glibc

/// Reads a time from the beginning of a text.
struct TimeParser {
    /// Which moment of a span is meant, where a text names a minute or a day.
    enum Edge {
        case start
        case end
    }

    private let bytes: [UInt8]
    private let edge: Edge
    private var position = 0

    init(_ text: String, edge: Edge) {
        bytes = Array(text.utf8)
        self.edge = edge
    }

    /// How many bytes of the text the time took.
    var consumedBytes: Int { position }

    /// Whether the time took all of the text.
    var isAtEnd: Bool { position == bytes.count }

    /// The time that the text begins with; nil where it begins with none.
    mutating func time(now: Timestamp) -> Timestamp? {
        for read in [TimeParser.word, TimeParser.calendar, TimeParser.clock, TimeParser.ago] {
            position = 0
            if let time = read(&self, now) { return time }
        }
        position = 0
        return nil
    }

    // MARK: The forms

    private static func word(_ parser: inout TimeParser, _ now: Timestamp) -> Timestamp? {
        if parser.take("now") { return now }
        if parser.take("today") { return parser.day(now, daysBack: 0) }
        if parser.take("yesterday") { return parser.day(now, daysBack: 1) }
        return nil
    }

    /// "90s", "10m", "2h30m", "3d", "1w": so long before now.
    private static func ago(_ parser: inout TimeParser, _ now: Timestamp) -> Timestamp? {
        let units: [(String, Int64)] = [
            ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000),
            ("d", 86_400_000_000_000), ("w", 604_800_000_000_000), ("y", 31_557_600_000_000_000),
        ]
        var total: Int64 = 0
        var isAny = false
        while true {
            let start = parser.position
            guard let count = parser.number(digits: 1...9), let unit = units.first(where: { parser.take($0.0) }) else {
                parser.position = start
                break
            }
            let (length, overflow) = Int64(count).multipliedReportingOverflow(by: unit.1)
            if overflow || total > Int64.max - length { return nil }
            total += length
            isAny = true
        }
        return isAny ? now.advanced(byNanoseconds: -total) : nil
    }

    /// "2026-11-21", "2026-11-21 14:05", "2026-11-21T14:05:09.5Z", "… +02:00": local time where no zone is given.
    ///
    /// A time without seconds means the whole minute, a date without a time the whole day.
    private static func calendar(_ parser: inout TimeParser, _: Timestamp) -> Timestamp? {
        guard let year = parser.number(digits: 4...4), parser.take("-"), let month = parser.number(digits: 2...2),
            parser.take("-"), let day = parser.number(digits: 2...2), (1...12).contains(month), day > 0,
            day <= daysInMonth(month, of: year)
        else { return nil }
        var fields = tm()
        fields.tm_year = CInt(year - 1900)
        fields.tm_mon = CInt(month - 1)
        fields.tm_mday = CInt(day)
        let dateEnd = parser.position
        if parser.take(" ") || parser.take("T"), let clock = parser.clockFields() {
            return parser.instant(fields, clock)
        }
        parser.position = dateEnd
        return parser.instant(fields, parser.wholeDay)
    }

    private static func daysInMonth(_ month: Int, of year: Int) -> Int {
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 2 ? (isLeapYear ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// "14:05", "14:05:09": today; yesterday where that is still to come.
    private static func clock(_ parser: inout TimeParser, _ now: Timestamp) -> Timestamp? {
        guard let clock = parser.clockFields() else { return nil }
        var fields = TimeParser.local(now)
        let today = parser.instant(fields, clock)
        guard let today, now < today, clock.startsAfter(fields) else { return today }
        fields.tm_mday -= 1
        return parser.instant(fields, clock)
    }

    // MARK: Parts

    private struct Clock {
        var hour: Int
        var minute: Int
        var second: Int
        var nanoseconds: UInt32

        /// Whether the clock's minute is still to come at `fields`.
        func startsAfter(_ fields: tm) -> Bool {
            (hour, minute) > (Int(fields.tm_hour), Int(fields.tm_min))
        }
    }

    private mutating func clockFields() -> Clock? {
        guard let hour = number(digits: 1...2), hour < 24, take(":"), let minute = number(digits: 2...2), minute < 60
        else { return nil }
        let minuteEnd = position
        guard take(":"), let second = number(digits: 2...2), second < 61 else {
            position = minuteEnd
            return Clock(
                hour: hour, minute: minute, second: edge == .end ? 59 : 0,
                nanoseconds: edge == .end ? lastNanosecond : 0)
        }
        let secondEnd = position
        guard take("."), let fraction = fraction() else {
            position = secondEnd
            return Clock(
                hour: hour, minute: minute, second: second, nanoseconds: edge == .end ? lastNanosecond : 0)
        }
        return Clock(hour: hour, minute: minute, second: second, nanoseconds: fraction)
    }

    /// Digits after a decimal point as nanoseconds.
    private mutating func fraction() -> UInt32? {
        var value: UInt32 = 0
        var digits = 0
        while position < bytes.count, let digit = digit(bytes[position]) {
            if digits < 9 { value = value * 10 + UInt32(digit) }
            digits += 1
            position += 1
        }
        guard digits > 0 else { return nil }
        for _ in min(digits, 9)..<9 { value *= 10 }
        return value
    }

    private mutating func instant(_ date: tm, _ clock: Clock) -> Timestamp? {
        var fields = date
        fields.tm_hour = CInt(clock.hour)
        fields.tm_min = CInt(clock.minute)
        fields.tm_sec = CInt(clock.second)
        fields.tm_isdst = -1
        let seconds = zone().map { offset in timegm(&fields) - offset } ?? mktime(&fields)
        return Timestamp(seconds: Int64(seconds), nanoseconds: clock.nanoseconds)
    }

    /// Seconds east of UTC that "Z" or "+02:00" says; nil where no zone follows.
    private mutating func zone() -> Int? {
        let start = position
        if take("Z") { return 0 }
        let sign = take("+") ? 1 : take("-") ? -1 : 0
        guard sign != 0, let hours = number(digits: 2...2), take(":"), let minutes = number(digits: 2...2) else {
            position = start
            return nil
        }
        return sign * (hours * 3600 + minutes * 60)
    }

    /// The first or the last moment of a day.
    private mutating func day(_ now: Timestamp, daysBack: CInt) -> Timestamp? {
        var fields = TimeParser.local(now)
        fields.tm_mday -= daysBack
        return instant(fields, wholeDay)
    }

    private var wholeDay: Clock {
        switch edge {
        case .start: Clock(hour: 0, minute: 0, second: 0, nanoseconds: 0)
        case .end: Clock(hour: 23, minute: 59, second: 59, nanoseconds: lastNanosecond)
        }
    }

    private var lastNanosecond: UInt32 { 999_999_999 }

    private static func local(_ time: Timestamp) -> tm {
        var seconds = time_t(time.seconds)
        var fields = tm()
        localtime_r(&seconds, &fields)
        return fields
    }

    private mutating func take(_ text: String) -> Bool {
        guard bytes[position...].starts(with: text.utf8) else { return false }
        position += text.utf8.count
        return true
    }

    private mutating func number(digits: ClosedRange<Int>) -> Int? {
        let start = position
        var value = 0
        while position < bytes.count, position - start < digits.upperBound, let digit = digit(bytes[position]) {
            value = value * 10 + Int(digit)
            position += 1
        }
        guard position - start >= digits.lowerBound else {
            position = start
            return nil
        }
        return value
    }

    private func digit(_ byte: UInt8) -> UInt8? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? byte - UInt8(ascii: "0") : nil
    }
}
