// SIGUSR1 asks a running command how far it is; the answer is a line on stderr, as dd(1) gives it.

internal import Threading

/// The answer to SIGUSR1.
enum ProgressSignal {
    private struct State {
        var isObserved = false
        var answer: (@Sendable () -> String)?
    }

    private static let state = Locked(State())

    /// Makes `text` the answer from now on; nil for none.
    static func answer(_ text: (@Sendable () -> String)?) {
        let isFirst = state.withLock { state in
            state.answer = text
            defer { state.isObserved = true }
            return !state.isObserved
        }
        // Where there can be no thread the signal has no effect, which harms nobody.
        if isFirst { try? Signals.observe(Signals.progress) { _, _ in report() } }
    }

    private static func report() {
        guard let text = state.withLock({ $0.answer })?() else { return }
        try? Output.error.line(text)
        try? Output.error.flush()
    }
}
