// Shows that several threads do something at the same time.

internal import Dispatch
internal import Threading

/// Threads that wait for each other.
package final class Meeting: Sendable {
    private let group = DispatchGroup()
    private let missing: Locked<Int>

    package init(of count: Int) {
        missing = Locked(count)
        group.enter()
    }

    /// Waits until as many threads as are expected are here, a minute at most; those that come later do not wait.
    package func attend() {
        let isLast = missing.withLock { missing in
            missing -= 1
            return missing == 0
        }
        if isLast { group.leave() }
        _ = group.wait(timeout: .now() + 60)
    }

    /// Whether they have met; waits for it a minute at most.
    package var isComplete: Bool { group.wait(timeout: .now() + 60) == .success }
}
