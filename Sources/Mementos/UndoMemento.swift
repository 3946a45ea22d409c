// An undo history as an originator: its state is what the commands have made, and what can be undone and redone.

/// What an ``UndoHistory`` was at one instant: kept, it lets undo survive a restart.
public struct UndoMemento<SomeCommand: Command>: Sendable {
    /// What the commands had made.
    public let state: SomeCommand.State
    /// What could be undone and redone.
    public let position: UndoPosition<SomeCommand>

    public init(state: SomeCommand.State, position: UndoPosition<SomeCommand>) {
        self.state = state
        self.position = position
    }
}

extension UndoMemento: Equatable where SomeCommand: Equatable, SomeCommand.State: Equatable {}
extension UndoMemento: Codable where SomeCommand: Codable, SomeCommand.State: Codable {}

/// An ``UndoHistory`` as an originator, for a caretaker.
public struct UndoOriginator<SomeCommand: Command>: Originator, Sendable {
    /// Whose state is captured and restored.
    public let history: UndoHistory<SomeCommand>

    public init(_ history: UndoHistory<SomeCommand>) {
        self.history = history
    }

    /// The state and the position that belong together, whatever other threads do.
    public func captureState() -> UndoMemento<SomeCommand> {
        let (state, position) = history.snapshot()
        return UndoMemento(state: state, position: position)
    }

    /// Makes the state and the position what they were.
    public func restore(_ memento: UndoMemento<SomeCommand>) {
        history.restore(memento.state, position: memento.position)
    }
}
