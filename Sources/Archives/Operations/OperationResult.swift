// What a step of undoing or redoing gives.

public import ArchiveStorage
public import Restoring

/// How far to undo or redo, and whether in earnest.
public struct ReversalOptions: Sendable {
    /// How many operations to take back; none where that is less than 1.
    public var steps: Int
    /// Whether only to tell what would be done.
    public var isDryRun: Bool
    /// What ends the work early.
    public var interruption: RestoreInterruption?

    public init(steps: Int = 1, isDryRun: Bool = false, interruption: RestoreInterruption? = nil) {
        self.steps = steps
        self.isDryRun = isDryRun
        self.interruption = interruption
    }
}

/// What taking back one operation did, or would do.
public struct OperationResult: Sendable {
    /// The operation that was taken back; nil where the archive has lost its record, though not that of its undo.
    public let operation: LoggedOperation?
    /// Whether an earlier try was interrupted, and this one did the rest.
    public let isResumed: Bool
    /// The snapshot whose state was brought back; nil where the root did not exist.
    public let snapshot: ListedSnapshot?
    /// What it did to the root.
    public let restore: RestoreResult
}
