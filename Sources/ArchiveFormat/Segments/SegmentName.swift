// File names of segments; they sort by the time when the segments were begun.

package import FileIO

/// The name of a segment's file, "20261121T101530.123456Z-<32 hex digits of its id>.segment".
package struct SegmentName: Hashable, Sendable {
    /// When the segment was begun, in whole microseconds.
    package let time: Timestamp
    /// The segment's id.
    package let segment: SegmentID

    /// The name of `segment`, begun at `created`.
    package init(created: Timestamp, segment: SegmentID) {
        // The years of four digits.
        let earliest = Timestamp(seconds: FormatLimits.recordSeconds.lowerBound)
        let latest = Timestamp(seconds: FormatLimits.recordSeconds.upperBound)
        let time = min(max(created, earliest), latest)
        self.time = Timestamp(seconds: time.seconds, nanoseconds: time.nanoseconds / 1000 * 1000)
        self.segment = segment
    }

    /// Parses a file name; nil if it is not a segment's.
    package init?(fileName: String) {
        var scanner = DigitScanner(fileName)
        guard let year = scanner.digits(4...4), let month = scanner.digits(2...2), let day = scanner.digits(2...2),
            scanner.take(anyOf: "T") != nil, let hour = scanner.digits(2...2), let minute = scanner.digits(2...2),
            let second = scanner.digits(2...2), scanner.take(anyOf: ".") != nil,
            let microseconds = scanner.digits(6...6)
        else { return nil }
        let date = CivilDate(
            year: Int64(year), month: month, day: day, hour: hour, minute: minute, second: second)
        guard let seconds = date.seconds else { return nil }
        time = Timestamp(seconds: seconds, nanoseconds: UInt32(microseconds * 1000))
        let digits = fileName.dropLast(SegmentName.suffix.count).suffix(2 * SegmentID.byteCount)
        guard let segment = SegmentID(hex: String(digits)) else { return nil }
        self.segment = segment
        guard self.fileName == fileName else { return nil }
    }

    /// The file's name.
    package var fileName: String {
        let date = CivilDate(time)
        let clock = [date.hour, date.minute, date.second].map { DecimalDigits.string($0, digits: 2) }.joined()
        let fraction = DecimalDigits.string(time.nanoseconds / 1000, digits: 6)
        let day = SegmentName.dateParts(date).joined()
        return "\(day)T\(clock).\(fraction)Z-\(segment.hex)\(SegmentName.suffix)"
    }

    /// The folder below `segments` that holds the file: "2026/11/21".
    package var folder: String { SegmentName.dateParts(CivilDate(time)).joined(separator: "/") }

    /// The file's path below `segments`.
    package var path: String { "\(folder)/\(fileName)" }

    private static let suffix = ".segment"

    private static func dateParts(_ date: CivilDate) -> [String] {
        [
            DecimalDigits.string(date.year, digits: 4), DecimalDigits.string(date.month, digits: 2),
            DecimalDigits.string(date.day, digits: 2),
        ]
    }
}
