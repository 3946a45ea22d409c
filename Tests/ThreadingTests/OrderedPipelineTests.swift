// How many inputs of a pipeline are in progress at the same time.

import TestSupport
import TestTraits
import Testing
import Threading

@Suite("A pipeline", .blocking)
struct OrderedPipelineTests {
    @Test("all inputs of a pipeline that waits for a network are in progress at the same time, and come out in order")
    func waiting() throws {
        let width = 3 * Processors.count + 10
        let meeting = Meeting(of: width)
        var outputs: [Int] = []
        let pipeline = OrderedPipeline<Int, Int>(
            width: width, waits: true,
            transform: { input in
                meeting.attend()
                return input
            }, consume: { outputs.append($0) })
        for input in 0..<3 * width { try pipeline.submit(input) }
        try pipeline.finish(with: 3 * width)
        #expect(meeting.isComplete)
        #expect(outputs == Array(0...3 * width))
    }

    @Test("outputs that are made ahead come in order, also if each waits", arguments: [false, true])
    func ahead(_ waits: Bool) throws {
        var outputs: [Int] = []
        try (0..<500).forEachAhead(byteCount: { _ in 1000 }, waits: waits, { $0 }) { output in
            outputs.append(output)
            return output < 399
        }
        #expect(outputs == Array(0..<400))
    }
}
