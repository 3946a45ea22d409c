// How much of what could be tried is tried: everything, or what finds most defects in a short time.

internal import Glibc

/// Whether everything is tried, however long it takes: `make test-all` sets THOROUGH.
package let isThorough = getenv("THOROUGH") != nil

extension Range<Int> {
    /// All offsets of the range in a thorough run; otherwise the offsets at its ends and some in between.
    ///
    /// An archive is opened for each offset.
    package var sampled: [Int] {
        if isThorough { return Array(self) }
        return filter { $0 < lowerBound + 16 || $0 >= upperBound - 12 || ($0 - lowerBound).isMultiple(of: 31) }
    }
}

extension ClosedRange<Int> {
    /// Like `Range.sampled`.
    package var sampled: [Int] { (lowerBound..<upperBound + 1).sampled }
}
