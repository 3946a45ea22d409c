// The Command pattern: an action on a state, and how to undo it.

/// An action on a state that can be executed, undone and redone.
///
/// The state is a value, or a reference to an object. A command should be a value, too. When it executes, it stores in
/// itself what it needs for undoing, such as the data it deletes; if it is `Codable`, that is stored with it.
///
/// If the state is a value, a command that throws need not clean up: the history restores the old value. If the state
/// is an object, the command must leave it as it found it.
public protocol Command<State>: Sendable {
    /// What the command changes.
    associatedtype State: Sendable

    /// The command's name in a menu: "Delete Album".
    var name: String { get }

    /// Executes the command: for the first time, or again after ``undo(on:)``, on a state that is as it was the first
    /// time.
    ///
    /// - Throws: an error if it cannot be done; the state should then be as it was.
    mutating func execute(on state: inout State) throws

    /// Restores the state before ``execute(on:)``; `state` is as that method left it.
    ///
    /// - Throws: an error if it cannot be undone; the state should then be as it was.
    mutating func undo(on state: inout State) throws

    /// Returns one command that replaces this one and `next`; nil if they are separate steps.
    ///
    /// Called when `next` was executed right after this one, without undo, redo or a group in between. For example,
    /// typed letters become a word that is undone as one. By default, commands are not coalesced.
    func coalesced(with next: Self) -> Self?
}

extension Command {
    /// Nil: by default, every command is a step of its own.
    public func coalesced(with next: Self) -> Self? { nil }
}

/// Any command for a state: lets a history hold several kinds of commands, and makes a command from two closures.
public struct AnyCommand<State: Sendable>: Command {
    private var command: any Command<State>

    /// Wraps a command.
    public init(_ command: some Command<State>) {
        self.command = command
    }

    /// A command made of closures.
    public init(
        _ name: String, execute: @escaping @Sendable (inout State) throws -> Void,
        undo: @escaping @Sendable (inout State) throws -> Void
    ) {
        command = ClosurePair(name: name, execute: execute, undo: undo)
    }

    /// The wrapped command's name.
    public var name: String { command.name }

    /// Executes the wrapped command.
    ///
    /// - Throws: any error of the command.
    public mutating func execute(on state: inout State) throws {
        try command.execute(on: &state)
    }

    /// Undoes the wrapped command.
    ///
    /// - Throws: any error of the command.
    public mutating func undo(on state: inout State) throws {
        try command.undo(on: &state)
    }

    /// The wrapped commands as one, if they have the same type and can be one.
    public func coalesced(with next: AnyCommand) -> AnyCommand? {
        func coalesced<Known: Command<State>>(_ command: Known) -> AnyCommand? {
            (next.command as? Known).flatMap { command.coalesced(with: $0) }.map { AnyCommand($0) }
        }
        return coalesced(command)
    }
}

private struct ClosurePair<State: Sendable>: Command {
    let name: String
    let execute: @Sendable (inout State) throws -> Void
    let undo: @Sendable (inout State) throws -> Void

    func execute(on state: inout State) throws {
        try execute(&state)
    }

    func undo(on state: inout State) throws {
        try undo(&state)
    }
}
