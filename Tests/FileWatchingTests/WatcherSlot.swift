// Tests run at once, but a user has 128 inotify instances only, and other programs want some.

import Threading

/// The right to have a watcher, given back when the value is no longer kept; a test holds one at most.
final class WatcherSlot: Sendable {
    private struct State {
        var free = 16
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private static let state = Locked(State())

    private init() {}

    /// Waits until there is one to be had.
    static func take() async -> WatcherSlot {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.free == 0 {
                    state.waiters.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
        return WatcherSlot()
    }

    deinit {
        let next = Self.state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiters.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiters.removeFirst()
        }
        next?.resume()
    }
}
