// Arithmetic and order of timestamps, compared with plain integers.

import FileIO
import TestSupport
import TestTraits
import Testing

@Suite(.blocking) struct TimestampTests {
    private func nanoseconds(_ time: Timestamp) -> Int128 {
        Int128(time.seconds) * 1_000_000_000 + Int128(time.nanoseconds)
    }

    private func instant(_ random: inout SeededGenerator) -> Timestamp {
        let range: ClosedRange<Int64> = Bool.random(using: &random) ? -2...2 : -1_000_000_000_000...1_000_000_000_000
        let edges: [UInt32] = [0, 1, 999_999_999]
        let isEdge = Bool.random(using: &random)
        return Timestamp(
            seconds: .random(in: range, using: &random),
            nanoseconds: isEdge
                ? edges[Int.random(in: 0..<3, using: &random)]
                : .random(in: 0..<1_000_000_000, using: &random))
    }

    @Test("moving a time adds nanoseconds")
    func addition() {
        var random = SeededGenerator("moves")
        for _ in 0..<10_000 {
            let start = instant(&random)
            let edges: [Int64] = [0, 1, -1, 999_999_999, -999_999_999, 1_000_000_000, -1_000_000_000, .max, .min]
            let step =
                Bool.random(using: &random)
                ? edges[Int.random(in: 0..<edges.count, using: &random)] : .random(in: .min ... .max, using: &random)
            let end = start.advanced(byNanoseconds: step)
            #expect(end.nanoseconds < 1_000_000_000, "\(start) + \(step), seed \(random.seed)")
            #expect(nanoseconds(end) == nanoseconds(start) + Int128(step), "\(start) + \(step), seed \(random.seed)")
        }
    }

    @Test("times are ordered by their nanoseconds")
    func order() {
        var random = SeededGenerator("order of instants")
        for _ in 0..<10_000 {
            let (a, b) = (instant(&random), instant(&random))
            #expect((a < b) == (nanoseconds(a) < nanoseconds(b)), "\(a) \(b), seed \(random.seed)")
        }
    }
}
