// Waiting until a count reaches a number.

internal import Threading

/// A count that only grows, and the tasks that wait for it.
final class Milestones: Sendable {
    private struct State {
        var reached = 0
        var hasEnded = false
        var waiters: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    private let state = Locked(State())

    /// Returns when the count has reached `number`, or has ended.
    ///
    /// - Returns: whether the count has reached `number`.
    @discardableResult
    func wait(for number: Int) async -> Bool {
        await withCheckedContinuation { continuation in
            let isReached: Bool? = state.withLock { state in
                if state.reached >= number { return true }
                if state.hasEnded { return false }
                state.waiters.append((number, continuation))
                return nil
            }
            if let isReached { continuation.resume(returning: isReached) }
        }
    }

    /// Raises the count to `number`, and resumes the tasks that wait for it or less.
    func reach(_ number: Int) {
        resume { state in
            state.reached = max(state.reached, number)
        }
    }

    /// Ends the count: resumes all waiting tasks, and lets later ones return immediately.
    func end() {
        resume { $0.hasEnded = true }
    }

    private func resume(_ change: (inout State) -> Void) {
        let (due, reached) = state.withLock { state in
            change(&state)
            let (reached, hasEnded) = (state.reached, state.hasEnded)
            let due = state.waiters.filter { hasEnded || $0.number <= reached }
            state.waiters.removeAll { hasEnded || $0.number <= reached }
            return (due, reached)
        }
        for waiter in due { waiter.continuation.resume(returning: waiter.number <= reached) }
    }
}
