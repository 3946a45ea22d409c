// The Memento pattern's originator: a type whose state can be captured and restored.

/// A type whose state can be captured, and restored later.
///
/// A structure, a class or an actor can conform; a synchronous method satisfies an asynchronous requirement. Only the
/// originator knows what its state contains; the caretaker that stores it never looks inside. So the state may contain
/// private data, as long as the state's own properties are private too.
public protocol Originator<State> {
    /// The captured state: a value, so that nothing changes it afterwards.
    associatedtype State: Sendable

    /// Returns the current state.
    ///
    /// - Throws: an error if the state cannot be captured.
    nonisolated(nonsending) func captureState() async throws -> State

    /// Restores `state`, which was captured earlier.
    ///
    /// - Throws: an error if it cannot; the originator should then be as it was before.
    nonisolated(nonsending) mutating func restore(_ state: State) async throws
}
