// File names of segments; they sort by the time when the segments were begun.

package import FileIO

/// The name of a segment's file, "20261121T101530.123456Z-<8 hex digits of its id>.segment".
package struct SegmentName: Hashable, Sendable {
    /// When the segment was begun, in whole microseconds.
    package let time: Timestamp
    /// The first 8 hex digits of the segment's id.
    package let idPrefix: String

    /// The name of `segment`, begun at `created`.
    package init(created: Timestamp, segment: SegmentID) {
        let earliest = Timestamp(seconds: SegmentName.range.lowerBound)
        let latest = Timestamp(seconds: SegmentName.range.upperBound)
        let time = min(max(created, earliest), latest)
        self.time = Timestamp(seconds: time.seconds, nanoseconds: time.nanoseconds / 1000 * 1000)
        idPrefix = segment.short
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
        idPrefix = String(fileName.dropLast(SegmentName.suffix.count).suffix(8))
        guard let id = Hex.bytes(idPrefix), Hex.string(id) == idPrefix, self.fileName == fileName else { return nil }
    }

    /// The first 4 bytes of the segment's id as a number.
    package var segment: UInt32 { UInt32(idPrefix, radix: 16) ?? 0 }

    /// The file's name.
    package var fileName: String {
        let date = CivilDate(time)
        let clock = [date.hour, date.minute, date.second].map { DecimalDigits.string($0, digits: 2) }.joined()
        let fraction = DecimalDigits.string(time.nanoseconds / 1000, digits: 6)
        let day = SegmentName.dateParts(date).joined()
        return "\(day)T\(clock).\(fraction)Z-\(idPrefix)\(SegmentName.suffix)"
    }

    /// The folder below `segments` that holds the file: "2026/11/21".
    package var folder: String { SegmentName.dateParts(CivilDate(time)).joined(separator: "/") }

    /// The file's path below `segments`.
    package var path: String { "\(folder)/\(fileName)" }

    private static let suffix = ".segment"
    /// The seconds from 0000-01-01 to 9999-12-31, the years of four digits.
    ///
    /// Times outside are clamped to this range.
    private static let range: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

    private static func dateParts(_ date: CivilDate) -> [String] {
        [
            DecimalDigits.string(date.year, digits: 4), DecimalDigits.string(date.month, digits: 2),
            DecimalDigits.string(date.day, digits: 2),
        ]
    }
}
