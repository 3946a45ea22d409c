// The Command pattern: a history executes, undoes and redoes commands.

internal import Threading

/// Executes commands on a state and records them, so that they can be undone and redone.
///
/// - A command either changes the state and enters the history, or it fails and does neither. A new command discards
///   the steps that could be redone.
/// - The state is an ``Observable``: its observers see the changes that commands make. Only commands should change it,
///   as each command expects the state that the one before it left.
/// - Any thread may use a history. Commands run one at a time; observers are called afterwards, on the same thread, and
///   may use the history. A command itself must change neither the history nor the observable.
public final class UndoHistory<SomeCommand: Command>: Sendable {
    /// The state that the commands change.
    public typealias State = SomeCommand.State
    /// The position in this history.
    public typealias Position = UndoPosition<SomeCommand>
    /// A step of this history.
    public typealias Step = UndoStep<SomeCommand>

    /// The state that the commands change.
    public let state: Observable<State>
    /// How many steps can be undone; older ones are forgotten.
    public let depth: Int

    /// Held by the thread that runs commands; reading the history does not need this lock.
    ///
    /// Its value is whether the next command may join the last step, which was executed right before it.
    private let running = Locked(false)
    private let log: Locked<Position>
    private let current: Observable<UndoStatus>

    /// Starts a history, or continues one.
    ///
    /// - Parameters:
    ///   - state: the state that belongs to the position.
    ///   - position: the steps done and undone so far; empty by default.
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

    /// The next steps that can be undone and redone.
    public var status: ObservablePart<UndoStatus, UndoStatus> { current.observing(\.self) }
    /// Whether there is a step to undo.
    public var canUndo: ObservablePart<UndoStatus, Bool> { current.observing(\.canUndo) }
    /// Whether there is a step to redo.
    public var canRedo: ObservablePart<UndoStatus, Bool> { current.observing(\.canRedo) }
    /// The name of the next step to undo.
    public var undoName: ObservablePart<UndoStatus, String?> { current.observing(\.undoName) }
    /// The name of the next step to redo.
    public var redoName: ObservablePart<UndoStatus, String?> { current.observing(\.redoName) }

    // MARK: Doing and undoing

    /// Executes a command.
    ///
    /// It becomes a step of its own, or a part of the last one: see ``Command/coalesced(with:)``.
    ///
    /// - Throws: an error with the command's error as its cause; the state and the history are as before.
    public func execute(_ command: SomeCommand) throws(CommandError) {
        try step(command.name, canJoin: true) { group in try group.execute(command) }
    }

    /// Ends the last step: the next command starts a new one.
    ///
    /// For boundaries between a user's steps that commands cannot recognise: a pause, or a different place in the text.
    public func endStep() {
        _ = running.withLockUnlessHeld { $0 = false }
    }

    /// Executes several commands that are undone as one.
    ///
    /// If `body` throws, none of them remains.
    ///
    /// Observers see the state before and after, nothing in between. A group may contain groups. A group without
    /// commands leaves the history as it is.
    ///
    /// - Parameters:
    ///   - name: the step's name in the menu.
    ///   - body: executes commands through the group passed to it; must not use the history itself.
    /// - Returns: what `body` returns.
    /// - Throws: the error of the command that failed; any other error that `body` throws becomes the cause of an error
    ///   with the group's name.
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
            // `coalesced(with:)` is called outside the log's lock, as it may read the history.
            if let last, let joined = last.coalesced(with: step) {
                record { $0.replaceLast(with: joined) }
                return (result, [last, step])
            }
            return (result, record { $0.push(step, depth: depth) })
        }
    }

    /// Undoes the last step.
    ///
    /// - Returns: the step's name; nil if there is nothing to undo.
    /// - Throws: `CommandError` if the step cannot be undone; then nothing has changed.
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

    /// Redoes the step that was undone last.
    ///
    /// - Returns: the step's name; nil if there is nothing to redo.
    /// - Throws: `CommandError` if the step cannot be redone; then nothing has changed.
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

    /// The done and undone steps, to be stored for the program's next start; see ``snapshot()``.
    public var position: Position { log.withLock { $0 } }

    /// How often the state and the position have changed, added up.
    package var changeCount: UInt64 { state.changeCount + current.changeCount }

    /// Returns the state and the matching position, consistent even while other threads run commands.
    ///
    /// Within a command, these are the ones before it.
    public func snapshot() -> (state: State, position: Position) {
        running.withLockUnlessHeld { _ in (state.value, position) } ?? (state.value, position)
    }

    /// Restores a state and its position; must not be called by a command.
    public func restore(_ state: State, position: Position = Position()) {
        replace("restore", position) { self.state.change { $0 = state } }
    }

    /// Forgets all steps; the state stays as it is.
    ///
    /// Must not be called by a command.
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

    /// Runs commands one after another, and then delivers to the observers of the state and of the status.
    ///
    /// - Parameters:
    ///   - name: the name of the step, for the error.
    ///   - body: gets whether the next command may join the last step; updates the position if it succeeds; returns the
    ///     result and the forgotten steps. A step's deinit may call back, so they are released outside the lock.
    /// - Throws: what `body` throws; `CommandError` with the cause `HistoryInUse` if this thread is already running a
    ///   command.
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
    ///
    /// - Throws: `CommandError` with the error of `execute`; then nothing has changed.
    public func execute<State>(
        _ name: String, _ execute: @escaping @Sendable (inout State) throws -> Void,
        undo: @escaping @Sendable (inout State) throws -> Void
    ) throws(CommandError) where SomeCommand == AnyCommand<State> {
        try self.execute(AnyCommand(name, execute: execute, undo: undo))
    }

    /// Executes a command of any kind.
    ///
    /// - Throws: `CommandError` with the error of the command; then nothing has changed.
    public func execute<State>(
        _ command: some Command<State>
    ) throws(CommandError) where SomeCommand == AnyCommand<State> {
        try execute(AnyCommand(command))
    }
}

/// The next steps that can be undone and redone.
public struct UndoStatus: Sendable, Hashable {
    /// The name of the step that ``UndoHistory/undo()`` undoes; nil if there is none.
    public internal(set) var undoName: String?
    /// The name of the step that ``UndoHistory/redo()`` redoes; nil if there is none.
    public internal(set) var redoName: String?
    /// How often the history has changed since it was created.
    public internal(set) var changeCount = 0

    /// Whether there is a step to undo.
    public var canUndo: Bool { undoName != nil }
    /// Whether there is a step to redo.
    public var canRedo: Bool { redoName != nil }
}

extension UndoStatus {
    init(_ position: UndoPosition<some Command>, changeCount: Int) {
        undoName = position.done.last?.name
        redoName = position.undone.last?.name
        self.changeCount = changeCount
    }
}
