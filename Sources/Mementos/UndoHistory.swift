// The Command pattern: a history does commands, undoes them and does them again.

internal import Threading

/// Executes commands on a state and remembers them, so that they can be undone and redone.
///
/// - A command changes the state and enters the history, or it fails and does neither. A new one ends what could be
///   redone.
/// - The state is an ``Observable``: whoever observes it sees what commands do. Only commands should change it, as each
///   finds it the way the one before it left it.
/// - Any thread may use a history. Commands run one at a time; observers are told afterwards, on the same thread, and may
///   use the history. A command itself must use neither the history nor the observable, which would wait for themselves.
public final class UndoHistory<SomeCommand: Command>: Sendable {
    public typealias State = SomeCommand.State
    public typealias Position = UndoPosition<SomeCommand>
    public typealias Step = UndoStep<SomeCommand>

    /// What the commands change.
    public let state: Observable<State>
    /// So many steps can be undone; older ones are forgotten.
    public let depth: Int

    /// Held by the one that runs commands; others look at the history meanwhile, and so does the one.
    ///
    /// It says whether the next command may join the last step, which was executed right before it.
    private let running = Locked(false)
    private let log: Locked<Position>
    private let current: Observable<UndoStatus>

    /// Begins a history, or goes on with one.
    ///
    /// - Parameters:
    ///   - state: as it was when the position was taken.
    ///   - position: what was done and undone before; nothing at first.
    ///   - depth: how many steps can be undone at most; with 0, nothing can be undone.
    public init(of state: Observable<State>, position: Position = Position(), depth: Int = 1000) {
        self.state = state
        self.depth = max(0, depth)
        var position = position
        _ = position.limit(to: self.depth)
        log = Locked(position)
        current = Observable(UndoStatus(position, changeCount: 0))
    }

    // MARK: Observing

    /// What can be undone and redone next.
    public var status: ObservablePart<UndoStatus, UndoStatus> { current.observing(\.self) }
    /// Whether there is something to undo.
    public var canUndo: ObservablePart<UndoStatus, Bool> { current.observing(\.canUndo) }
    /// Whether there is something to redo.
    public var canRedo: ObservablePart<UndoStatus, Bool> { current.observing(\.canRedo) }
    /// The name of what is undone next.
    public var undoName: ObservablePart<UndoStatus, String?> { current.observing(\.undoName) }
    /// The name of what is redone next.
    public var redoName: ObservablePart<UndoStatus, String?> { current.observing(\.redoName) }

    // MARK: Doing and undoing

    /// Executes a command, which becomes a step of its own, or part of the last one: see ``Command/coalesced(with:)``.
    ///
    /// - Throws: what it threw, as the cause; the state and the history are as before.
    public func execute(_ command: SomeCommand) throws(CommandError) {
        try step(command.name, canJoin: true) { group in try group.execute(command) }
    }

    /// Ends the last step: the next command begins one of its own.
    ///
    /// For what separates the steps of a user though no command tells: a pause, another place in the text.
    public func endStep() {
        _ = running.withLockUnlessHeld { $0 = false }
    }

    /// Executes several commands that are undone as one; either all of them are done or, if `body` throws, none.
    ///
    /// Observers see the state before and after, nothing in between. A group may hold groups. One without commands leaves
    /// the history as it is.
    ///
    /// - Parameters:
    ///   - name: for the menu.
    ///   - body: executes commands through the group that it is given; must not use the history itself.
    /// - Returns: what `body` returns.
    /// - Throws: what a command threw; anything else that `body` threw is the cause of an error with the group's name.
    @discardableResult
    public func group<Result>(
        _ name: String, _ body: (inout CommandGroup<SomeCommand>) throws -> Result
    ) throws(CommandError) -> Result {
        try step(name, canJoin: false, body)
    }

    private func step<Result>(
        _ name: String, canJoin: Bool, _ body: (inout CommandGroup<SomeCommand>) throws -> Result
    ) throws(CommandError) -> Result {
        try run(.execute, name) { (isOpen: inout Bool) throws(CommandError) in
            let (result, commands) = try state.change { (state) throws(CommandError) in
                var group = CommandGroup<SomeCommand>(state)
                let result = try group.group(name, body)
                state = group.state
                return (result, group.commands)
            }
            guard !commands.isEmpty else { return (result, []) }
            let step = Step(name: name, commands: commands)
            let last = canJoin && isOpen ? position.done.last : nil
            isOpen = canJoin
            // The commands are asked outside the lock, as they may look at the history.
            if let last, let joined = last.coalesced(with: step) {
                record { $0.replaceLast(with: joined) }
                return (result, [last, step])
            }
            return (result, record { $0.push(step, depth: depth) })
        }
    }

    /// Undoes the last step.
    ///
    /// - Returns: its name; nil if there is nothing to undo.
    @discardableResult
    public func undo() throws(CommandError) -> String? {
        let next = position.done.last
        return try run(.undo, next?.name ?? "") { (isOpen: inout Bool) throws(CommandError) in
            isOpen = false
            guard var step = position.done.last else { return (nil, []) }
            try state.change { (state) throws(CommandError) in try step.undo(on: &state) }
            record { $0.moveToUndone(step) }
            return (step.name, [])
        }
    }

    /// Does again what was undone last.
    ///
    /// - Returns: its name; nil if there is nothing to redo.
    @discardableResult
    public func redo() throws(CommandError) -> String? {
        let next = position.undone.last
        return try run(.redo, next?.name ?? "") { (isOpen: inout Bool) throws(CommandError) in
            isOpen = false
            guard var step = position.undone.last else { return (nil, []) }
            try state.change { (state) throws(CommandError) in try step.redo(on: &state) }
            record { $0.moveToDone(step) }
            return (step.name, [])
        }
    }

    // MARK: Keeping and restoring

    /// What is done and what is undone, for the program's next start; see ``snapshot()``.
    public var position: Position { log.withLock { $0 } }

    /// How often the state or the position has changed.
    package var changeCount: UInt64 { state.changeCount + current.changeCount }

    /// The state and the position that belong together, whatever other threads do; for a command, those before it.
    public func snapshot() -> (state: State, position: Position) {
        running.withLockUnlessHeld { _ in (state.value, position) } ?? (state.value, position)
    }

    /// Makes the state and the position what they were when they were taken; not to be used by a command.
    public func restore(_ state: State, position: Position = Position()) {
        replace("restore", position) { self.state.change { $0 = state } }
    }

    /// Forgets all that could be undone and redone; the state stays.
    ///
    /// Not to be used by a command.
    public func clear() {
        replace("clear the history", Position()) {}
    }

    private func replace(_ action: String, _ position: Position, _ changeState: () -> Void) {
        do throws(CommandError) {
            try run(.execute, action) { (isOpen: inout Bool) throws(CommandError) in
                isOpen = false
                changeState()
                return (
                    (),
                    record { former in
                        let forgotten = former.done + former.undone
                        former = position
                        return forgotten + former.limit(to: depth)
                    }
                )
            }
        } catch {
            endProgram(because: "\(error)")
        }
    }

    /// Runs commands one after the other, and tells the observers of the state and of the status afterwards.
    ///
    /// - Parameters:
    ///   - name: of what is about to be run, for the error.
    ///   - body: is given whether the next command may join the last step; notes in the position what has gone well;
    ///     returns the result and the steps that are forgotten. Steps may call back when they end: they end outside the
    ///     lock.
    /// - Throws: what `body` throws; `CommandError` with the cause `HistoryInUse` where this thread runs a command already.
    private func run<Result>(
        _ action: CommandError.Action, _ name: String,
        _ body: (inout Bool) throws(CommandError) -> (Result, forgotten: [Step])
    ) throws(CommandError) -> Result {
        let outcome = try running.withLockUnlessHeld { (isOpen) throws(CommandError) in try body(&isOpen) }
        guard let (result, forgotten) = outcome else {
            throw CommandError(action: action, name: name, cause: CommandError.HistoryInUse())
        }
        state.deliver()
        current.deliver()
        return withExtendedLifetime(forgotten) { result }
    }

    /// Changes the position, and the status with it.
    @discardableResult
    private func record<Result>(_ body: (inout Position) -> Result) -> Result {
        log.withLock { position in
            let result = body(&position)
            current.change { $0 = UndoStatus(position, changeCount: $0.changeCount + 1) }
            return result
        }
    }
}

extension UndoHistory {
    /// Executes a command that consists of two closures.
    public func execute<State>(
        _ name: String, _ execute: @escaping @Sendable (inout State) throws -> Void,
        undo: @escaping @Sendable (inout State) throws -> Void
    ) throws(CommandError) where SomeCommand == AnyCommand<State> {
        try self.execute(AnyCommand(name, execute: execute, undo: undo))
    }

    /// Executes a command of any kind.
    public func execute<State>(
        _ command: some Command<State>
    ) throws(CommandError) where SomeCommand == AnyCommand<State> {
        try execute(AnyCommand(command))
    }
}
