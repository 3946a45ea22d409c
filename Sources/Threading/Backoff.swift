// Growing pauses between tries of what fails for a while.

/// The pauses before something that failed is tried again: each is twice as long as the one before, up to the longest.
package struct Backoff: Sendable {
    package let first: Duration
    private let longest: Duration
    private var last: Duration?

    package init(_ first: Duration, atMost longest: Duration) {
        (self.first, self.longest) = (first, longest)
    }

    /// The pause before the next try.
    package mutating func next() -> Duration {
        let pause = min(last.map { $0 * 2 } ?? first, longest)
        last = pause
        return pause
    }

    /// After a success, the next pause is the first again.
    package mutating func reset() { last = nil }
}
