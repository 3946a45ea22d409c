// Medians and percentiles, against what their definitions say.

import Testing

@testable import benchmarks

@Suite struct StatisticsTests {
    @Test(arguments: [([3], 3), ([3, 1, 2], 2), ([4, 1, 3, 2], 2.5), ([5, 5, 1, 9], 5)] as [([Double], Double)])
    func medianIsTheMiddle(numbers: [Double], expected: Double) {
        #expect(numbers.median == expected)
    }

    @Test func nothingHasNoMedianAndNoPercentile() {
        #expect([Double]().median == nil)
        #expect([Double]().percentile(0.99) == nil)
    }

    @Test(arguments: [(0.0, 1.0), (0.01, 1), (0.5, 50), (0.99, 99), (0.991, 100), (1, 100)])
    func percentileIsTheSmallestThatEnoughDoNotExceed(share: Double, expected: Double) {
        #expect((1...100).map(Double.init).shuffled().percentile(share) == expected)
    }

    @Test func runsAddUp() {
        let first = Measurement(seconds: 1, processorSeconds: 2, peakBytes: 30, storedBytes: 400)
        let second = Measurement(seconds: 10, processorSeconds: 20, peakBytes: 3)
        #expect(
            first + second == Measurement(seconds: 11, processorSeconds: 22, peakBytes: 30, storedBytes: 400))
    }
}
