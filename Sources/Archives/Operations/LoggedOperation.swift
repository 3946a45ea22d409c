// An operation with its state in the root's log: complete, undone, or next to undo or redo.

public import ArchiveFormat
internal import ArchiveStorage

/// An operation on a root.
public struct LoggedOperation: Sendable, Hashable, Identifiable {
    /// What would take an operation back.
    public enum Reversal: String, Sendable {
        case undo
        case redo
    }

    public let id: OperationID
    public let record: OperationRecord
    /// Whether it was completed; if not, it was interrupted, or it skipped something that changed during it.
    public internal(set) var isComplete = false
    /// The snapshot of the root's state after it; nil if none was made.
    public internal(set) var after: SnapshotID?
    /// The operation that took it back.
    public internal(set) var undoneBy: OperationID?
    /// What takes it back next; set for at most two operations of a root.
    public internal(set) var next: Reversal?

    init(_ stored: StoredOperation) {
        id = stored.id
        record = stored.record
    }
}
