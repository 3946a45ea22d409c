// Times for people, in the machine's time zone.

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

    private static func clock(_ parts: tm) -> String {
        [parts.tm_hour, parts.tm_min, parts.tm_sec].map { Digits.padded($0, to: 2) }.joined(separator: ":")
    }
}
