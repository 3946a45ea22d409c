// A request to end, and the pauses that it ends.

internal import Threading

/// A request to end, which is made once.
final class Ending: Sendable {
    private struct State {
        var time: ContinuousClock.Instant?
        var inner: [Weak] = []
        var pauses: [UInt64: Task<Void, Never>] = [:]
        var count: UInt64 = 0
    }

    private struct Weak {
        weak var value: Ending?
    }

    private let state = Locked(State())

    /// - Parameter outer: its request is also one to end this.
    init(within outer: Ending? = nil) { outer?.add(self) }

    /// When the end was requested; nil if it was not.
    var time: ContinuousClock.Instant? { state.withLock { $0.time } }
    var isRequested: Bool { time != nil }

    func request() {
        let (pauses, inner) = state.withLock { state in
            state.time = state.time ?? .now
            defer { (state.pauses, state.inner) = ([:], []) }
            return (Array(state.pauses.values), state.inner)
        }
        for pause in pauses { pause.cancel() }
        for ending in inner { ending.value?.request() }
    }

    /// Waits for `duration`, or until the end is requested.
    func pause(_ duration: Duration) async {
        let pause = Task { _ = try? await Task.sleep(for: duration) }
        let number: UInt64? = state.withLock { state in
            if state.time != nil { return nil }
            state.count += 1
            state.pauses[state.count] = pause
            return state.count
        }
        guard let number else { return pause.cancel() }
        await pause.value
        state.withLock { $0.pauses[number] = nil }
    }

    private func add(_ ending: Ending) {
        let isLate = state.withLock { state in
            if state.time != nil { return true }
            state.inner.removeAll { $0.value == nil }
            state.inner.append(Weak(value: ending))
            return false
        }
        if isLate { ending.request() }
    }
}
