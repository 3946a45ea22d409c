// Which places of a file a test damages.

internal import Foundation

extension Range<Int> {
    /// All places of the range in a run of the tests on optimised code; else those at its ends, and some in between.
    ///
    /// An archive is opened for each, which takes long in a debug build.
    package var sampled: [Int] {
        if ProcessInfo.processInfo.environment["ARCHIVER_TESTS"] != nil { return Array(self) }
        return filter { $0 < lowerBound + 48 || $0 >= upperBound - 24 || ($0 - lowerBound).isMultiple(of: 13) }
    }
}

extension ClosedRange<Int> {
    /// Like `Range.sampled`.
    package var sampled: [Int] { (lowerBound..<upperBound + 1).sampled }
}
