// Gaps: open ones, ended ones, and each reported once.

import FileIO
import TestTraits
import Testing

@testable import FileWatching

@Suite(.blocking) struct GapLogTests {
    private func at(_ seconds: Int64) -> Timestamp { Timestamp(seconds: seconds) }

    @Test("a gap lasts from its first start to its end")
    func span() {
        var log = GapLog()
        log.begin(.polling, at: at(10))
        log.begin(.polling, at: at(20))
        log.begin(.overflow, at: at(15))
        #expect(log.open == [.polling: at(10), .overflow: at(15)])
        #expect(log.take().isEmpty, "none has ended")
        #expect(log.end(.overflow, at: at(16)) == Gap(cause: .overflow, start: at(15), end: at(16)))
        #expect(log.end(.overflow, at: at(17)) == nil)
        #expect(log.take() == [Gap(cause: .overflow, start: at(15), end: at(16))])
        #expect(log.take().isEmpty && log.open == [.polling: at(10)])
    }

    @Test("a gap does not end before it starts")
    func backwards() {
        var log = GapLog()
        log.begin(.suspend, at: at(30))
        #expect(log.end(.suspend, at: at(20)) == Gap(cause: .suspend, start: at(20), end: at(20)))
    }
}
