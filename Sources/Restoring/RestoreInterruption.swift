// Ending a restore early without leaving anything half-done.

internal import Threading

/// Asks restores to end; safe to use from any thread.
public final class RestoreInterruption: Sendable {
    private struct State {
        var isAsked = false
        var isAltering = false
    }

    private let state = Locked(State())

    public init() {}

    /// Asks the restore to end once the file under way is written or removed.
    ///
    /// - Returns: false where no restore is altering anything now: then the process may as well end.
    public func ask() -> Bool {
        state.withLock { state in
            state.isAsked = true
            return state.isAltering
        }
    }

    /// Whether a restore is to end.
    var isAsked: Bool { state.withLock { $0.isAsked } }

    /// Says that from now on a restore is altering something, or not any more.
    package func set(isAltering: Bool) { state.withLock { $0.isAltering = isAltering } }

    /// Thrown to end a restore early.
    package struct Stop: Error {}
}
