// Sums by minute, compared with a sum over all moments.

import ArchiveFormat
import FileIO
import TestSupport
import TestTraits
import Testing

@testable import Timeline

@Suite(.blocking) struct TimelineActivityTests {
    @Test("the sums of any span are those of its minutes, in any order of moments")
    func sums() {
        var random = SeededGenerator("timeline activity")
        for _ in 0..<50 {
            var activity = TimelineActivity()
            var moments: [(seconds: Int64, added: UInt64)] = []
            for _ in 0..<random.below(200) {
                let moment = (Int64(random.below(20_000)) - 10_000, UInt64(random.below(9)))
                moments.append(moment)
                activity.add(Timestamp(seconds: moment.0), ChangeCounts(added: moment.1), storedBytes: 2)
            }
            #expect(activity.count == moments.count)
            let start = TimelineActivity.floor(Int64(random.below(20_000)) - 10_000, 60)
            let end = start + 60 * Int64(random.below(200))
            var (count, added, bytes) = (0, UInt64(0), UInt64(0))
            activity.forEach(from: start, below: end) { _, sums in
                count += sums.moments
                added += sums.changes.added
                bytes += sums.storedBytes
            }
            let inside = moments.filter { start <= $0.seconds && $0.seconds < end }
            #expect(count == inside.count, "seed \(random.seed)")
            #expect(added == inside.reduce(0) { $0 + $1.added }, "seed \(random.seed)")
            #expect(bytes == 2 * UInt64(inside.count), "seed \(random.seed)")
        }
    }

    @Test("sums that overflow stay at the greatest number")
    func large() {
        var activity = TimelineActivity()
        for _ in 0..<2 { activity.add(Timestamp(seconds: 0), ChangeCounts(removed: .max), storedBytes: .max) }
        activity.forEach(from: 0, below: 60) { _, sums in
            #expect(sums.storedBytes == .max && sums.changes.removed == .max)
        }
    }
}
