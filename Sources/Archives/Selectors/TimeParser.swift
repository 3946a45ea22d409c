// Parses times as people write them: relative to now, or as a local date and time.

internal import FileIO
internal import Glibc

/// Parses a time at the beginning of a text.
struct TimeParser {
    /// Which moment of a span to return if the text names a minute or a day.
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

    /// The number of bytes that the time occupies.
    var consumedBytes: Int { position }

    /// Whether the time occupies the whole text.
    var isAtEnd: Bool { position == bytes.count }

    /// The time that the whole of `text` names; nil if it names none.
    static func time(_ text: String, _ edge: Edge, now: Timestamp) -> Timestamp? {
        var parser = TimeParser(text, edge: edge)
        guard let time = parser.time(now: now), parser.isAtEnd else { return nil }
        return time
    }

    /// The time that the text begins with; nil if it begins with none.
    mutating func time(now: Timestamp) -> Timestamp? {
        for read in [TimeParser.word, TimeParser.calendar, TimeParser.clock, TimeParser.inWords, TimeParser.ago] {
            position = 0
            if let time = read(&self, now) { return time }
        }
        position = 0
        return nil
    }

    // MARK: The forms

    /// "now", "today", "yesterday 14:05", "monday", "last friday 9:00".
    private static func word(_ parser: inout TimeParser, _ now: Timestamp) -> Timestamp? {
        if parser.takeWord("now") { return now }
        if parser.takeWord("today") { return parser.day(now, daysBack: 0) }
        if parser.takeWord("yesterday") { return parser.day(now, daysBack: 1) }
        if parser.takeWord("last") { parser.takeBlanks() }
        let today = Int(TimeParser.local(now).tm_wday)
        for (weekday, names) in weekdays.enumerated() where names.contains(where: { parser.takeWord($0) }) {
            // "today" means today, so a weekday names one of the seven days before it.
            return parser.day(now, daysBack: CInt((today - weekday + 6) % 7 + 1))
        }
        return nil
    }

    private static let weekdays = [
        ["sunday", "sun"], ["monday", "mon"], ["tuesday", "tue"], ["wednesday", "wed"], ["thursday", "thu"],
        ["friday", "fri"], ["saturday", "sat"],
    ]

    private static let units: [(short: String, words: [String], nanoseconds: Int64)] = [
        ("ms", ["milliseconds", "millisecond"], 1_000_000),
        ("s", ["seconds", "second", "secs", "sec"], 1_000_000_000),
        ("m", ["minutes", "minute", "mins", "min"], 60_000_000_000),
        ("h", ["hours", "hour", "hrs", "hr"], 3_600_000_000_000), ("d", ["days", "day"], 86_400_000_000_000),
        ("w", ["weeks", "week"], 604_800_000_000_000), ("", ["months", "month"], 2_629_800_000_000_000),
        ("y", ["years", "year"], 31_557_600_000_000_000),
    ]

    /// "2 hours ago", "an hour ago", "1 day 2 hours ago", "10m ago".
    private static func inWords(_ parser: inout TimeParser, _ now: Timestamp) -> Timestamp? {
        var total: Int64 = 0
        repeat {
            guard let count = parser.count() else { return nil }
            parser.takeBlanks()
            guard
                let unit = units.first(where: { unit in
                    unit.words.contains { parser.takeWord($0) } || !unit.short.isEmpty && parser.takeWord(unit.short)
                }), TimeParser.add(count, unit.nanoseconds, to: &total)
            else { return nil }
            parser.takeBlanks()
            if parser.takeWord("and") { parser.takeBlanks() }
        } while !parser.takeWord("ago")
        return now.advanced(byNanoseconds: -total)
    }

    /// "90s", "10m", "2h30m", "3d", "1w": this long before now.
    private static func ago(_ parser: inout TimeParser, _ now: Timestamp) -> Timestamp? {
        var total: Int64 = 0
        var isAny = false
        while true {
            let start = parser.position
            guard let count = parser.number(digits: 1...9),
                let unit = units.first(where: { !$0.short.isEmpty && parser.take($0.short) })
            else {
                parser.position = start
                break
            }
            guard add(count, unit.nanoseconds, to: &total) else { return nil }
            isAny = true
        }
        return isAny ? now.advanced(byNanoseconds: -total) : nil
    }

    private static func add(_ count: Int, _ nanoseconds: Int64, to total: inout Int64) -> Bool {
        let (length, overflow) = Int64(count).multipliedReportingOverflow(by: nanoseconds)
        if overflow || total > Int64.max - length { return false }
        total += length
        return true
    }

    /// "2026-11-21", "2026-11-21 14:05", "2026-11-21T14:05:09.5Z", "… +02:00": in local time if no zone is given.
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
        return parser.instant(fields, parser.clockOnDay())
    }

    private static func daysInMonth(_ month: Int, of year: Int) -> Int {
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 2 ? (isLeapYear ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// "14:05", "14:05:09": today, or yesterday if that time is in the future.
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

        /// Whether the clock's minute is later than `fields`.
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

    /// The offset of "Z" or "+02:00" in seconds east of UTC; nil if no zone follows.
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

    /// The first or last moment of a day, or of the time of day that follows.
    private mutating func day(_ now: Timestamp, daysBack: CInt) -> Timestamp? {
        var fields = TimeParser.local(now)
        fields.tm_mday -= daysBack
        return instant(fields, clockOnDay())
    }

    /// The time of day that follows a date; the whole day if none follows.
    private mutating func clockOnDay() -> Clock {
        let end = position
        if take(" ") || take("T"), let clock = clockFields() { return clock }
        position = end
        return wholeDay
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

    /// Consumes `text` if it follows as a whole word, in upper or lower case.
    private mutating func takeWord(_ text: String) -> Bool {
        let end = position + text.utf8.count
        guard end <= bytes.count, zip(bytes[position..<end], text.utf8).allSatisfy({ $0 | 0x20 == $1 }),
            end == bytes.count || !isLetter(bytes[end])
        else { return false }
        position = end
        return true
    }

    private mutating func takeBlanks() {
        while position < bytes.count, bytes[position] == UInt8(ascii: " ") { position += 1 }
    }

    /// A number in digits, or "a" or "an".
    private mutating func count() -> Int? {
        if takeWord("a") || takeWord("an") { return 1 }
        return number(digits: 1...9)
    }

    private func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
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
