// The Memento pattern's originator: whoever has a state, hands it out and takes it back.

/// Something whose state can be captured, and brought back later.
///
/// A structure, a class or an actor can be one: a requirement that is asynchronous here may be met by a method that is
/// not. Only the originator knows what is in its state; the caretaker that keeps it never looks inside. So parts that
/// are private may be in the state, as long as the state's own properties are too.
public protocol Originator<State> {
    /// What is captured: a value, so that nothing changes it afterwards.
    associatedtype State: Sendable

    /// The state as it is now.
    nonisolated(nonsending) func captureState() async throws -> State

    /// Makes the state what it was when `state` was captured.
    ///
    /// - Throws: where it cannot; the originator should then be as it was before.
    nonisolated(nonsending) mutating func restore(_ state: State) async throws
}
