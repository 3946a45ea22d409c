// The pauses between tries.

import Testing
import Threading

struct BackoffTests {
    @Test("each pause is twice as long as the one before, up to the longest, and a success starts again")
    func pauses() {
        var backoff = Backoff(.seconds(1), atMost: .seconds(5))
        #expect((0..<5).map { _ in backoff.next() } == [1, 2, 4, 5, 5].map { .seconds($0) })
        backoff.reset()
        #expect(backoff.next() == .seconds(1))
    }

    @Test("no pause is longer than the longest, not even the first")
    func longFirst() {
        var backoff = Backoff(.seconds(9), atMost: .seconds(5))
        #expect(backoff.next() == .seconds(5))
    }
}
