// Selects the offsets of a file that a test damages.

internal import Foundation

extension Range<Int> {
    /// All offsets of the range if ARCHIVER_TESTS is set; otherwise the offsets at its ends and some in between.
    ///
    /// `make test` sets it, and builds optimised code. An archive is opened for each offset, which is slow in a debug
    /// build.
    package var sampled: [Int] {
        if ProcessInfo.processInfo.environment["ARCHIVER_TESTS"] != nil { return Array(self) }
        return filter { $0 < lowerBound + 48 || $0 >= upperBound - 24 || ($0 - lowerBound).isMultiple(of: 13) }
    }
}

extension ClosedRange<Int> {
    /// Like `Range.sampled`.
    package var sampled: [Int] { (lowerBound..<upperBound + 1).sampled }
}
