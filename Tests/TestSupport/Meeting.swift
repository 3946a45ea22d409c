// Shows that several threads do something at the same time.

internal import Dispatch
internal import Threading

/// Threads that wait for each other, a minute at most.
package final class Meeting: Sendable {
    private let group = DispatchGroup()
    private let state: Locked<(missing: Int, isMissed: Bool)>

    package init(of count: Int) {
        state = Locked((count, false))
        group.enter()
    }

    /// Waits until as many threads as are expected are here; those that come later do not wait.
    package func attend() {
        let isLast = state.withLock { state in
            state.missing -= 1
            return state.missing == 0
        }
        if isLast { group.leave() }
        _ = isComplete
    }

    /// Whether they have met, and none has left before; waits for it.
    package var isComplete: Bool {
        let hasMet = group.wait(timeout: .now() + 60) == .success
        return state.withLock { state in
            if !hasMet { state.isMissed = true }
            return !state.isMissed
        }
    }
}
