// Several commands that become one step of a history.

/// Executes commands that are undone as one; made by ``UndoHistory/group(_:_:)``.
public struct CommandGroup<SomeCommand: Command> {
    /// The state after the commands executed so far.
    public private(set) var state: SomeCommand.State
    private(set) var commands: [SomeCommand] = []

    init(_ state: SomeCommand.State) {
        self.state = state
    }

    /// Executes a command.
    ///
    /// - Throws: the command's error; the state is as before, and the group may continue.
    public mutating func execute(_ command: SomeCommand) throws(CommandError) {
        var command = command
        let former = state
        do {
            try command.execute(on: &state)
        } catch {
            state = former
            throw CommandError(action: .execute, name: command.name, cause: error)
        }
        commands.append(command)
    }

    /// Executes several commands, all of them or none.
    ///
    /// - Parameters:
    ///   - name: used only in errors, as the outermost group is undone as one step.
    ///   - body: executes commands through the group passed to it.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` threw; the state is as before, and the outer group may continue.
    public mutating func group<Result>(
        _ name: String, _ body: (inout CommandGroup) throws -> Result
    ) throws(CommandError) -> Result {
        let former = self
        do {
            return try body(&self)
        } catch {
            var failed = UndoStep(name: name, commands: Array(commands.dropFirst(former.commands.count)))
            let rollbackCause = failed.rollBack(on: &state)
            self = former
            var commandError = error as? CommandError ?? CommandError(action: .execute, name: name, cause: error)
            commandError.rollbackCause = commandError.rollbackCause ?? rollbackCause
            throw commandError
        }
    }
}
