// Work that other threads do ahead.

import TestSupport
import TestTraits
import Testing

@testable import Threading

@Suite(.blocking)
struct OrderedPipelineTests {
    private struct Fault: Error {}

    @Test("all inputs of a pipeline that waits for a network are in progress at the same time, and come out in order")
    func waiting() throws {
        // A concurrent queue gets about one more thread a second while all of its threads wait.
        let width = Processors.count + 100
        let meeting = Meeting(of: width)
        var outputs: [Int] = []
        let pipeline = OrderedPipeline<Int, Int>(
            width: width, ownThreads: true,
            transform: { input in
                meeting.attend()
                return input
            }, consume: { outputs.append($0) })
        for input in 0..<3 * width { try pipeline.submit(input) }
        try pipeline.finish(with: 3 * width)
        #expect(meeting.isComplete)
        #expect(outputs == Array(0...3 * width))
    }

    @Test(
        "outputs that are made ahead come in the order of the elements, whatever their sizes", arguments: [false, true])
    func order(waits: Bool) throws {
        var random = SeededGenerator("outputs made ahead")
        for _ in 0..<50 {
            let sizes = (0..<random.below(120)).map { _ in UInt64(random.below(random.oneIn(4) ? 3 << 20 : 1000)) }
            var found: [Int] = []
            try sizes.indices.forEachAhead(byteCount: { sizes[$0] }, waits: waits, { $0 }) { index in
                found.append(index)
                return true
            }
            #expect(found == Array(sizes.indices), "\(random.seed)")
        }
    }

    @Test("after the last output that is wanted, nothing comes and no error matters; one before it does")
    func end() throws {
        for (count, size) in [(3, 1), (40, 1), (200, 1), (40, 1 << 20), (40, 4 << 20)] {
            for last in [0, 1, count / 2, count - 1] {
                var found: [Int] = []
                try (0..<count).forEachAhead(byteCount: { _ in UInt64(size) }) { index in
                    if index > last { throw Fault() }
                    return index
                } _: { index in
                    found.append(index)
                    return index < last
                }
                #expect(found == Array(0...last), "\(last) of \(count)")
                #expect(throws: Fault.self) {
                    try (0..<count).forEachAhead(byteCount: { _ in UInt64(size) }) { index in
                        if index == last { throw Fault() }
                        return index
                    } _: { _ in
                        true
                    }
                }
            }
        }
    }

    @Test("some MiB are made ahead, and no large output")
    func memory() throws {
        for size in [100, 300_000, 1 << 20, 3 << 20] {
            let made = Locked(0)
            var used = 0
            try (0..<300).forEachAhead(byteCount: { _ in UInt64(size) }) { index in
                made.withLock { $0 += 1 }
                return index
            } _: { _ in
                let ahead = made.withLock { $0 } - used - 1
                used += 1
                #expect(ahead * size <= 40 << 20, "\(ahead) of \(size) bytes")
                if size >= 2 << 20 { #expect(ahead == 0) }
                return true
            }
            #expect(used == 300)
        }
    }
}
