// On SIGUSR1 a running command prints its progress on stderr, as dd(1) does.

internal import Threading

/// The answer to SIGUSR1.
enum ProgressSignal {
    private struct State {
        var isObserved = false
        var answer: (@Sendable () -> String)?
    }

    private static let state = Locked(State())

    /// Sets the answer; nil for no answer.
    static func answer(_ text: (@Sendable () -> String)?) {
        let isFirst = state.withLock { state in
            state.answer = text
            defer { state.isObserved = true }
            return !state.isObserved
        }
        // If no thread can be started, the signal has no effect.
        if isFirst { try? Signals.observe(Signals.progress) { _, _ in report() } }
    }

    private static func report() {
        guard let text = state.withLock({ $0.answer })?() else { return }
        try? Output.error.line(text)
        try? Output.error.flush()
    }
}
