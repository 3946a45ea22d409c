// A continuation that several tasks may resume; only the first answer counts.

/// Resumes a continuation with the first answer and ignores all later ones.
package final class FirstAnswer<Answer: Sendable>: Sendable {
    private let continuation: Locked<CheckedContinuation<Answer, Never>?>

    package init(_ continuation: CheckedContinuation<Answer, Never>) {
        self.continuation = Locked(continuation)
    }

    package func give(_ answer: Answer) {
        let continuation = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        continuation?.resume(returning: answer)
    }
}

extension FirstAnswer where Answer == Bool {
    /// Runs `body` and waits at most `limit` for it to end.
    ///
    /// - Returns: whether it has ended; if not, it continues to run.
    @discardableResult
    package static func isDone(within limit: Duration, _ body: @escaping @Sendable () async -> Void) async -> Bool {
        await withCheckedContinuation { continuation in
            let answer = FirstAnswer(continuation)
            let alarm = Task {
                try? await Task.sleep(for: limit)
                answer.give(false)
            }
            Task {
                await body()
                answer.give(true)
                alarm.cancel()
            }
        }
    }
}
