// An operation as the log of its root knows it: whether it is done, undone, and what can be taken back next.

public import ArchiveFormat
internal import ArchiveStorage

/// Something that altered a root.
public struct LoggedOperation: Sendable, Hashable, Identifiable {
    /// What would take an operation back now.
    public enum Reversal: String, Sendable {
        case undo
        case redo
    }

    public let id: OperationID
    public let record: OperationRecord
    /// Whether it was done to its end; else it was interrupted, or left something alone that changed meanwhile.
    public internal(set) var isComplete = false
    /// The snapshot with the root's state after it; nil where none was made.
    public internal(set) var after: SnapshotID?
    /// The operation that took it back.
    public internal(set) var takenBackBy: OperationID?
    /// What takes it back next; nil for all but one or two operations of a root.
    public internal(set) var next: Reversal?

    init(_ stored: StoredOperation) {
        id = stored.id
        record = stored.record
    }
}
