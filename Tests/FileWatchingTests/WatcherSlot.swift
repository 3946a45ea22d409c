// Limits the watchers of concurrent tests: a user has only 128 inotify instances, and other programs need some.

import Threading

/// The right to have a watcher, returned when the value is released; a test holds at most one.
final class WatcherSlot: Sendable {
    private struct State {
        var free = 16
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private static let state = Locked(State())

    private init() {}

    /// Waits until a slot is free and takes it.
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
