// The greatest numbers of the format. Readers refuse greater ones, so that no sum of stored numbers can trap.

internal import FileIO

/// Limits of stored numbers.
package enum FormatLimits {
    /// Sizes of files, their sums, and stored bytes: the maximum of `off_t`.
    package static let bytes = UInt64(Int64.max)
    /// Entries in a tree, and all other counts.
    package static let entries: UInt64 = 1 << 48
    /// Patterns of exclusions, and names of ignore files.
    package static let patterns = 65_536
    /// Extended attributes of an entry: Linux lists at most 65,536 bytes of names.
    package static let attributes = 16_384
    /// CBOR items in a record other than a snapshot: itself, and every key, value, array and map in it.
    package static let recordItems = 262_144
    /// CBOR items of a snapshot that a purge can rewrite: twice the pairs of the two tables of names.
    static let rewrittenItems = 1 << 23
    /// Bytes of a path.
    package static let pathBytes = 65_535

    /// Seconds of the times of records: the years 0 to 9999.
    ///
    /// The times of files have no limit.
    package static let recordSeconds: ClosedRange<Int64> = -62_167_219_200...253_402_300_799
    /// Bytes of a host's name.
    package static let hostBytes = 1_024
    /// Bytes of labels, reasons, and other short texts.
    package static let textBytes = 4_096
    /// Bytes of titles and details.
    package static let longTextBytes = 65_536

    /// Refuses the time of a record outside the years 0 to 9999.
    static func check(_ time: Timestamp) throws(FormatError) {
        guard time.nanoseconds < 1_000_000_000 else { throw .malformed("nanoseconds of a second or more") }
        guard recordSeconds.contains(time.seconds) else { throw .malformed("a time outside the years 0 to 9999") }
    }

    /// Refuses a number greater than `limit`.
    static func check(_ number: UInt64, _ limit: UInt64, _ name: String) throws(FormatError) {
        guard number <= limit else { throw .malformed("\(name) of more than \(limit)") }
    }

    /// Refuses a text that is empty or has more than `limit` bytes.
    static func check(_ text: String?, _ limit: Int, _ name: String) throws(FormatError) {
        guard let text else { return }
        guard !text.isEmpty else { throw .malformed("\(name) that is empty") }
        guard text.utf8.count <= limit else { throw .malformed("\(name) of more than \(limit) bytes") }
    }

    /// Refuses a text of more than `limit` bytes, which may be empty.
    static func check(bytes text: String?, _ limit: Int, _ name: String) throws(FormatError) {
        guard text?.utf8.count ?? 0 <= limit else { throw .malformed("\(name) of more than \(limit) bytes") }
    }

    /// `left + right`, but at most `limit`.
    ///
    /// Such sums do not depend on the order of the numbers, so a tree's sums depend only on its content.
    package static func sum(_ left: UInt64, _ right: UInt64, _ limit: UInt64) -> UInt64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? limit : min(sum, limit)
    }
}
