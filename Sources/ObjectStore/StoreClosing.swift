// Closes a store from another thread: running calls are woken.

internal import Dispatch
internal import Threading

/// Whether a store is closed, and how its running calls are woken.
final class StoreClosing: Sendable {
    private struct State {
        var isClosed = false
        var nextID: UInt64 = 0
        var wakers: [UInt64: @Sendable () -> Void] = [:]
    }

    private let state = Locked(State())

    func close() {
        let wakers = state.withLock { state in
            state.isClosed = true
            defer { state.wakers = [:] }
            return Array(state.wakers.values)
        }
        for wake in wakers { wake() }
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    func check(_ operation: @autoclosure () -> String) throws(ObjectStoreError) {
        if isClosed { throw ObjectStoreError(.cancelled, operation()) }
    }

    /// Calls `body`; `wake` is called from another thread if the store is closed meanwhile, or at once if it is already.
    func waking<Result, Failure: Error>(
        _ wake: @escaping @Sendable () -> Void, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let id: UInt64? = state.withLock { state in
            if state.isClosed { return nil }
            state.nextID += 1
            state.wakers[state.nextID] = wake
            return state.nextID
        }
        if id == nil { wake() }
        defer { if let id { state.withLock { _ = $0.wakers.removeValue(forKey: id) } } }
        return try body()
    }

    /// Waits for `duration`, nil for ever, or until the store is closed.
    func pause(_ duration: Duration?, _ operation: @autoclosure () -> String) throws(ObjectStoreError) {
        let woken = DispatchSemaphore(value: 0)
        waking({ woken.signal() }) {
            if let duration {
                _ = woken.wait(timeout: .now() + .nanoseconds(Int(duration / .nanoseconds(1))))
            } else {
                woken.wait()
            }
        }
        try check(operation())
    }
}
