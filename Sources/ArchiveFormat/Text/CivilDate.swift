// Converts seconds since the epoch to a date and time of day in UTC and back, without Foundation.

package import FileIO

/// A date and a time of day in UTC, in the proleptic Gregorian calendar.
package struct CivilDate: Hashable, Sendable {
    package var year: Int64
    /// From 1 to 12.
    package var month: Int
    /// From 1 to 31.
    package var day: Int
    package var hour: Int
    package var minute: Int
    package var second: Int

    private static let secondsPerDay: Int64 = 86_400
    /// The calendar repeats after 400 years of this many days.
    private static let daysPerEra: Int64 = 146_097
    /// Days from 0000-03-01 to 1970-01-01.
    private static let epochDay: Int64 = 719_468

    /// The date and time of `time` (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`).
    package init(_ time: Timestamp) {
        let (days, rest) = CivilDate.floorDivide(time.seconds, CivilDate.secondsPerDay)
        let (era, dayOfEra) = CivilDate.floorDivide(days + CivilDate.epochDay, CivilDate.daysPerEra)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        // Years begin in March here, so that the leap day is the last day.
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
        month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        hour = Int(rest / 3600)
        minute = Int(rest / 60 % 60)
        second = Int(rest % 60)
    }

    package init(year: Int64, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    /// Seconds since the epoch (`days_from_civil`); nil if the date or time does not exist or is out of range.
    ///
    /// A leap second, `second` 60, is the first second of the next minute.
    package var seconds: Int64? {
        guard (1...12).contains(month), (1...CivilDate.days(inMonth: month, of: year)).contains(day),
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second),
            abs(year) < 1_000_000_000_000
        else { return nil }
        let (era, yearOfEra) = CivilDate.floorDivide(month <= 2 ? year - 1 : year, 400)
        let monthFromMarch = Int64(month > 2 ? month - 3 : month + 9)
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + Int64(day) - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * CivilDate.daysPerEra + dayOfEra - CivilDate.epochDay
        let (whole, overflowed) = days.multipliedReportingOverflow(by: CivilDate.secondsPerDay)
        let (sum, overflowedToo) = whole.addingReportingOverflow(Int64(hour * 3600 + minute * 60 + second))
        return overflowed || overflowedToo ? nil : sum
    }

    private static func days(inMonth month: Int, of year: Int64) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        switch month {
        case 2: return isLeap ? 29 : 28
        case 4, 6, 9, 11: return 30
        default: return 31
        }
    }

    /// Divides with a remainder that is never negative.
    private static func floorDivide(_ dividend: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
