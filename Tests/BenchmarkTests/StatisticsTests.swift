// Medians and percentiles, compared with their definitions.

import Testing

@testable import benchmarks

@Suite struct StatisticsTests {
    @Test(
        "the median is the middle number or the mean of the two middle ones",
        arguments: [([3], 3), ([3, 1, 2], 2), ([4, 1, 3, 2], 2.5), ([5, 5, 1, 9], 5)] as [([Double], Double)])
    func median(numbers: [Double], expected: Double) {
        #expect(numbers.median == expected)
    }

    @Test("an empty list has no median and no percentile") func empty() {
        #expect([Double]().median == nil)
        #expect([Double]().percentile(0.99) == nil)
    }

    @Test(
        "a percentile is the smallest number that enough numbers do not exceed",
        arguments: [(0.0, 1.0), (0.01, 1), (0.5, 50), (0.99, 99), (0.991, 100), (1, 100)])
    func percentile(share: Double, expected: Double) {
        #expect((1...100).map(Double.init).shuffled().percentile(share) == expected)
    }

    @Test("runs are added up") func sum() {
        let first = Measurement(seconds: 1, processorSeconds: 2, peakBytes: 30, storedBytes: 400)
        let second = Measurement(seconds: 10, processorSeconds: 20, peakBytes: 3)
        #expect(
            first + second == Measurement(seconds: 11, processorSeconds: 22, peakBytes: 30, storedBytes: 400))
    }
}
