// The first of several answers.

/// Resumes a continuation with the first answer it is given.
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
    /// Does `body`, but waits no longer than `limit` for its end.
    ///
    /// - Returns: whether it has ended.
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
