// The Command pattern: something to do to a state, and how to undo it.

/// Something that can be done to a state, undone and done again.
///
/// The state is a value, or a reference to an object of a class. A command is a value, too: what it needs for undoing, such
/// as what it has deleted, it keeps in itself when it executes, and where it is `Codable`, that survives with it.
///
/// A command that throws need not clean up a state that is a value, which becomes what it was before. It must leave an
/// object as it found it.
public protocol Command<State>: Sendable {
    associatedtype State: Sendable

    /// What it does, for a menu: "Delete Album".
    var name: String { get }

    /// Does it for the first time, or again after ``undo(on:)``, when the state is as it was at the first time.
    mutating func execute(on state: inout State) throws

    /// Makes the state what it was before ``execute(on:)``; it is as that left it.
    mutating func undo(on state: inout State) throws

    /// One command that does, and undoes, what this one and `next` have done; nil where they are two steps.
    ///
    /// Asked when `next` was executed right after this one, with neither undo nor redo nor a group between. So the letters
    /// that are typed become a word that is undone as one. By default, commands are not coalesced.
    func coalesced(with next: Self) -> Self?
}

extension Command {
    public func coalesced(with next: Self) -> Self? { nil }
}

/// Any command for a state, for a history of several kinds of them, and the way to make one from two closures.
public struct AnyCommand<State: Sendable>: Command {
    private var command: any Command<State>

    public init(_ command: some Command<State>) {
        self.command = command
    }

    public init(
        _ name: String, execute: @escaping @Sendable (inout State) throws -> Void,
        undo: @escaping @Sendable (inout State) throws -> Void
    ) {
        command = ClosurePair(name: name, execute: execute, undo: undo)
    }

    public var name: String { command.name }

    public mutating func execute(on state: inout State) throws {
        try command.execute(on: &state)
    }

    public mutating func undo(on state: inout State) throws {
        try command.undo(on: &state)
    }

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
