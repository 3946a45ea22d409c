// The options and the result of undoing and redoing.

public import ArchiveStorage
public import Restoring

/// How many operations to undo or redo, and whether only to plan it.
public struct ReversalOptions: Sendable {
    /// How many operations to undo or redo; none if less than 1.
    public var steps: Int
    /// Whether to plan only, and change nothing.
    public var isDryRun: Bool
    /// Interrupts the work early.
    public var interruption: RestoreInterruption?

    /// Options for `steps` undos or redos.
    public init(steps: Int = 1, isDryRun: Bool = false, interruption: RestoreInterruption? = nil) {
        self.steps = steps
        self.isDryRun = isDryRun
        self.interruption = interruption
    }
}

/// The result of undoing or redoing one operation, or the plan of a dry run.
public struct OperationResult: Sendable {
    /// The operation that was undone; nil if the archive has lost its record but not that of its undo.
    public let operation: LoggedOperation?
    /// Whether this completed an earlier interrupted attempt.
    public let isResumed: Bool
    /// An earlier undo or redo that could not restore some paths, if it is the operation before this one.
    public let unfinished: LoggedOperation?
    /// The snapshot whose state was restored; nil if the root did not exist.
    public let snapshot: ListedSnapshot?
    /// What the restore did to the root.
    public let restore: RestoreResult
}
