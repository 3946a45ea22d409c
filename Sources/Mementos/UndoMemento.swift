// An undo history as an originator: it captures the state and the steps that can be undone and redone.

/// An ``UndoHistory`` at one instant; storing it lets undo survive a restart.
public struct UndoMemento<SomeCommand: Command>: Sendable {
    /// The state that the commands had made.
    public let state: SomeCommand.State
    /// The steps that could be undone and redone.
    public let position: UndoPosition<SomeCommand>

    /// A state and the steps that lead to it and on from it.
    public init(state: SomeCommand.State, position: UndoPosition<SomeCommand>) {
        self.state = state
        self.position = position
    }
}

extension UndoMemento: Equatable where SomeCommand: Equatable, SomeCommand.State: Equatable {}
extension UndoMemento: Codable where SomeCommand: Codable, SomeCommand.State: Codable {}

/// An ``UndoHistory`` as an originator, for a caretaker.
public struct UndoOriginator<SomeCommand: Command>: Originator, Sendable {
    /// The history whose state is captured and restored.
    public let history: UndoHistory<SomeCommand>

    /// The originator of a history.
    public init(_ history: UndoHistory<SomeCommand>) {
        self.history = history
    }

    /// Returns the state and the matching position, consistent even while other threads run commands.
    public func captureState() -> UndoMemento<SomeCommand> {
        let (state, position) = history.snapshot()
        return UndoMemento(state: state, position: position)
    }

    /// Restores the state and the position.
    public func restore(_ memento: UndoMemento<SomeCommand>) {
        history.restore(memento.state, position: memento.position)
    }
}
