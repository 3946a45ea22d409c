// An operation with its state in the root's log: complete, undone, or next to undo or redo.

public import ArchiveFormat
internal import ArchiveStorage

/// An operation on a root.
public struct LoggedOperation: Sendable, Hashable, Identifiable {
    /// What would take an operation back.
    public enum Reversal: String, Sendable {
        /// The operation was taken back.
        case undo
        /// The undo was taken back.
        case redo
    }

    /// The operation's id.
    public let id: OperationID
    /// What the archive has recorded about it.
    public let record: OperationRecord
    /// Whether it ran to its end; if not, it was interrupted.
    public internal(set) var hasEnded = false
    /// How many paths it could not bring into the wanted state, if it ran to its end.
    public internal(set) var failed: UInt64 = 0
    /// Whether it ran to its end and brought every path into the wanted state.
    public var isComplete: Bool { hasEnded && failed == 0 }
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
