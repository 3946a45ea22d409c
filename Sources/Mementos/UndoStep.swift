// The unit that one undo undoes.

/// One or more commands that are undone and redone as one.
public struct UndoStep<SomeCommand: Command>: Sendable {
    /// The name of the command or of the group.
    public let name: String
    /// The commands in the order of their execution.
    public private(set) var commands: [SomeCommand]

    init(name: String, commands: [SomeCommand]) {
        self.name = name
        self.commands = commands
    }

    /// Returns this step and the next as one; nil unless each is a single command and the two coalesce.
    func coalesced(with next: UndoStep) -> UndoStep? {
        guard commands.count == 1, next.commands.count == 1 else { return nil }
        return commands[0].coalesced(with: next.commands[0]).map { UndoStep(name: $0.name, commands: [$0]) }
    }

    /// Undoes the commands, the last one first.
    ///
    /// If one fails, those after it are executed again.
    mutating func undo(on state: inout SomeCommand.State) throws(CommandError) {
        for index in commands.indices.reversed() {
            do {
                try commands[index].undo(on: &state)
            } catch {
                var error = CommandError(action: .undo, name: name, cause: error)
                error.rollbackCause = rollBack(&state) { commands, state in
                    for later in index + 1..<commands.count { try commands[later].execute(on: &state) }
                }
                throw error
            }
        }
    }

    /// Executes the commands, the first one first.
    ///
    /// If one fails, those before it are undone.
    mutating func redo(on state: inout SomeCommand.State) throws(CommandError) {
        for index in commands.indices {
            do {
                try commands[index].execute(on: &state)
            } catch {
                var error = CommandError(action: .redo, name: name, cause: error)
                error.rollbackCause = rollBack(&state) { commands, state in
                    for earlier in (0..<index).reversed() { try commands[earlier].undo(on: &state) }
                }
                throw error
            }
        }
    }

    /// Undoes the commands because a later command failed.
    ///
    /// - Returns: the error that stopped the rollback; nil if it succeeded.
    mutating func rollBack(on state: inout SomeCommand.State) -> (any Error)? {
        rollBack(&state) { commands, state in
            for index in commands.indices.reversed() { try commands[index].undo(on: &state) }
        }
    }

    /// Rolls an object back with its commands.
    ///
    /// A value needs no rollback: the caller still has the old one, and the failed command may have left this one in
    /// any condition.
    private mutating func rollBack(
        _ state: inout SomeCommand.State,
        _ body: (inout [SomeCommand], inout SomeCommand.State) throws -> Void
    ) -> (any Error)? {
        guard SomeCommand.State.self is any AnyObject.Type else { return nil }
        do {
            try body(&commands, &state)
            return nil
        } catch {
            return error
        }
    }
}

extension UndoStep: Equatable where SomeCommand: Equatable {}
extension UndoStep: Hashable where SomeCommand: Hashable {}
extension UndoStep: Codable where SomeCommand: Codable {}
