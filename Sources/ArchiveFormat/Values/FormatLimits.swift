// The greatest numbers of the format. Readers refuse greater ones, so that no sum of what is stored can trap.

/// Limits of stored numbers.
package enum FormatLimits {
    /// Of sizes of files, of sums of them, and of stored bytes: what `off_t` can say.
    package static let bytes = UInt64(Int64.max)
    /// Of entries in a tree, and of all other counts.
    package static let entries: UInt64 = 1 << 48
    /// Of patterns of exclusions, and of names of ignore files.
    package static let patterns = 65_536
    /// Of an entry's extended attributes: Linux lists at most 65,536 bytes of names.
    package static let attributes = 16_384
    /// Of the items of CBOR in a record that is no snapshot: itself, and every key, value, list and map in it.
    package static let recordItems = 262_144
    /// Of the bytes of a path.
    package static let pathBytes = 65_535

    /// Refuses a number that is more than `limit`.
    static func check(_ number: UInt64, _ limit: UInt64, _ name: String) throws(FormatError) {
        guard number <= limit else { throw .malformed("\(name) of more than \(limit)") }
    }

    /// Refuses a text that is empty or has more than `limit` bytes.
    static func check(_ text: String?, _ limit: Int, _ name: String) throws(FormatError) {
        guard let text else { return }
        guard !text.isEmpty else { throw .malformed("\(name) that is empty") }
        guard text.utf8.count <= limit else { throw .malformed("\(name) of more than \(limit) bytes") }
    }

    /// `left + right`, or `limit` where that is more.
    ///
    /// Sums of many numbers are the same in any order, so a tree's sums depend on its content alone.
    package static func sum(_ left: UInt64, _ right: UInt64, _ limit: UInt64) -> UInt64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? limit : min(sum, limit)
    }
}
