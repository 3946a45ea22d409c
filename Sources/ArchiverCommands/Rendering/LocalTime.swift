// Times for people, in the machine's time zone.

internal import ArchiveFormat
internal import FileIO
internal import Glibc

/// Texts of times in the machine's time zone.
enum LocalTime {
    /// "2026-11-21 10:15:30".
    static func text(_ time: Timestamp) -> String {
        var seconds = time_t(time.seconds)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return "\(time.seconds)" }
        let date = [
            Digits.padded(Int(parts.tm_year) + 1900, to: 4), Digits.padded(parts.tm_mon + 1, to: 2),
            Digits.padded(parts.tm_mday, to: 2),
        ]
        return date.joined(separator: "-") + " " + clock(parts)
    }

    /// "2026-11-21T10:15:30.123456789+01:00": the same clock as in a table, with its zone, for pipes.
    static func plain(_ time: Timestamp) -> String {
        var seconds = time_t(time.seconds)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return time.rfc3339 }
        // Whole minutes, as RFC 3339 has no other zones.
        let offset = parts.tm_gmtoff / 60 * 60
        let here = Timestamp(seconds: time.seconds + Int64(offset), nanoseconds: time.nanoseconds)
        guard offset != 0 else { return time.rfc3339 }
        let minutes = abs(offset) / 60
        return here.rfc3339.dropLast() + (offset < 0 ? "-" : "+") + Digits.padded(minutes / 60, to: 2) + ":"
            + Digits.padded(minutes % 60, to: 2)
    }

    private static func clock(_ parts: tm) -> String {
        [parts.tm_hour, parts.tm_min, parts.tm_sec].map { Digits.padded($0, to: 2) }.joined(separator: ":")
    }
}

/// Decimal numbers with a minimum width.
enum Digits {
    static func padded(_ number: some BinaryInteger, to width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}
