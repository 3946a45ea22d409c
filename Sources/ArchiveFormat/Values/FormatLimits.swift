// The greatest numbers of the format. Readers refuse greater ones, so that no sum of stored numbers can trap.

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
    /// Bytes of a path.
    package static let pathBytes = 65_535

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

    /// `left + right`, but at most `limit`.
    ///
    /// Such sums do not depend on the order of the numbers, so a tree's sums depend only on its content.
    package static func sum(_ left: UInt64, _ right: UInt64, _ limit: UInt64) -> UInt64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? limit : min(sum, limit)
    }
}
