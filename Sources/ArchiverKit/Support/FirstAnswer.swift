// The first of several answers.

internal import Locking

/// Resumes a continuation with the first answer it is given.
final class FirstAnswer<Answer: Sendable>: Sendable {
    private let continuation: Locked<CheckedContinuation<Answer, Never>?>

    init(_ continuation: CheckedContinuation<Answer, Never>) {
        self.continuation = Locked(continuation)
    }

    func give(_ answer: Answer) {
        let continuation = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        continuation?.resume(returning: answer)
    }
}
