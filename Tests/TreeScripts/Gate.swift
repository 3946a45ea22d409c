// Limits the number of tasks that run a section at the same time.

internal import Threading

/// Admits a limited number of tasks at a time; the others wait in a queue.
package final class Gate: Sendable {
    private struct State {
        var free: Int
        var line: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Locked<State>

    package init(width: Int) {
        state = Locked(State(free: width))
    }

    /// Waits for a free place, runs `body`, and frees the place.
    package func pass<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        await enter()
        defer { leave() }
        return try await body()
    }

    private func enter() async {
        await withCheckedContinuation { continuation in
            let mayEnter = state.withLock { state in
                if state.free > 0 {
                    state.free -= 1
                    return true
                }
                state.line.append(continuation)
                return false
            }
            if mayEnter { continuation.resume() }
        }
    }

    private func leave() {
        let next = state.withLock { state in
            guard !state.line.isEmpty else {
                state.free += 1
                return nil as CheckedContinuation<Void, Never>?
            }
            return state.line.removeFirst()
        }
        next?.resume()
    }
}
