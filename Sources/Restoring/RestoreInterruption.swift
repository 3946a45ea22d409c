// Ends a restore early without leaving any file half-written.

internal import Threading

/// Asks restores to end; safe to use from any thread.
public final class RestoreInterruption: Sendable {
    private struct State {
        var isAsked = false
        var isAltering = false
    }

    private let state = Locked(State())

    /// An interruption that has not been requested yet.
    public init() {}

    /// Asks the restore to end after the current file is written or removed.
    ///
    /// - Returns: false if no restore is changing anything now, so that the process can end immediately.
    public func ask() -> Bool {
        state.withLock { state in
            state.isAsked = true
            return state.isAltering
        }
    }

    /// Whether a restore was asked to end.
    var isAsked: Bool { state.withLock { $0.isAsked } }

    /// Sets whether a restore is changing something now.
    package func set(isAltering: Bool) { state.withLock { $0.isAltering = isAltering } }

    /// Thrown to end a restore early.
    package struct Stop: Error {}
}
