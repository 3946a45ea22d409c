// The undo log of a root, computed by replaying its operations from the first.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO

/// The operations on one root, and which of them can be undone.
///
/// Operations are undone, and undos redone, in reverse order. Any other operation ends what could be redone.
struct OperationLog {
    /// All operations, oldest first.
    private(set) var operations: [LoggedOperation] = []
    /// Indices in `operations` of those that can be undone, the next one last.
    private var undoable: [Int] = []
    /// Indices in `operations` of the undos that can be redone, the next one last.
    private var redoable: [Int] = []

    /// Replays `records`.
    ///
    /// - Parameter records: the records of one root, ordered by time. References to records that are missing, for
    ///   example through damage, are skipped.
    init(replaying records: [StoredOperation]) {
        var places: [OperationID: Int] = [:]
        let idle = OperationLog.idleRuns(records)
        for stored in records where stored.record.kind != .mark && !idle.contains(stored.id) {
            let target = stored.record.target.flatMap { places[$0] }
            if stored.record.kind == .completion {
                guard let target else { continue }
                operations[target].hasEnded = true
                operations[target].failed = stored.record.failed
                operations[target].after = stored.record.snapshot
                continue
            }
            places[stored.id] = operations.count
            operations.append(LoggedOperation(stored))
            move(by: operations.count - 1, target)
        }
        if let top = undoable.last { operations[top].next = .undo }
        if let top = redoable.last { operations[top].next = .redo }
    }

    /// The runs of commands that changed nothing, so there is nothing to undo.
    private static func idleRuns(_ records: [StoredOperation]) -> Set<OperationID> {
        var runs: [OperationID: SnapshotID] = [:]
        var idle: Set<OperationID> = []
        for stored in records {
            if stored.record.kind == .run { runs[stored.id] = stored.record.before }
            guard stored.record.kind == .completion, let target = stored.record.target,
                let after = stored.record.snapshot
            else { continue }
            if runs[target] == after { idle.insert(target) }
        }
        return idle
    }

    /// Updates what can be undone and redone for the operation at index `place`.
    private mutating func move(by place: Int, _ target: Int?) {
        let record = operations[place].record
        switch record.kind {
        case .undo:
            if let target { operations[target].undoneBy = operations[place].id }
            undoable.removeAll { $0 == target }
            // An undo that resumes an interrupted one is the same undo: a redo restores the state before the first.
            if !redoable.contains(where: { operations[$0].record.target == record.target }) { redoable.append(place) }
        case .redo:
            if let target { operations[target].undoneBy = operations[place].id }
            redoable.removeAll { $0 == target }
            if !undoable.contains(where: { operations[$0].isRedo(of: record.target) }) { undoable.append(place) }
        default:
            undoable.append(place)
            redoable = []
        }
    }

    // MARK: Steps

    /// One operation to undo.
    struct Step: Sendable, Hashable {
        /// The operation that is undone; nil if its record is lost.
        let operation: LoggedOperation?
        let target: OperationID
        /// The interrupted undo or redo that this step completes.
        let resumed: OperationRecord?
    }

    /// The next steps of undoing or redoing, in order.
    ///
    /// If the newest operation is an interrupted undo or redo of the same kind, the first step completes it. One that
    /// could not restore some paths is tried again if nothing else is left: otherwise it would block the next step.
    func steps(_ reversal: LoggedOperation.Reversal) -> [Step] {
        let places = reversal == .undo ? undoable : redoable
        let steps = places.reversed().map { place in
            Step(operation: operations[place], target: operations[place].id, resumed: nil)
        }
        let resumed = interrupted(reversal, orFailed: steps.isEmpty)
        return (resumed.map { [$0] } ?? []) + steps
    }

    /// The newest operation if it is an undo or redo that ran to its end and could not restore some paths.
    var unfinished: LoggedOperation? {
        operations.last.flatMap { $0.hasEnded && $0.failed > 0 && $0.record.target != nil ? $0 : nil }
    }

    private func interrupted(_ reversal: LoggedOperation.Reversal, orFailed: Bool) -> Step? {
        guard let newest = operations.last, newest.record.kind.rawValue == reversal.rawValue,
            let target = newest.record.target, !newest.hasEnded || orFailed && newest.failed > 0
        else { return nil }
        return Step(operation: operations.first { $0.id == target }, target: target, resumed: newest.record)
    }
}

extension LoggedOperation {
    fileprivate func isRedo(of target: OperationID?) -> Bool { record.kind == .redo && record.target == target }
}
