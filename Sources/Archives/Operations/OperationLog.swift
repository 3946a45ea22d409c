// Where a root stands between undoing and redoing, found by going through its operations from the first.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO

/// The operations on one root, and which of them can be taken back.
///
/// An operation can be undone, and an undo redone, each in the reverse order of doing; an operation that is neither an
/// undo nor a redo ends what could be redone.
struct OperationLog {
    /// All operations, the oldest first.
    private(set) var operations: [LoggedOperation] = []
    /// Where in `operations` those are that can be undone, the next one last.
    private var undoable: [Int] = []
    /// Where in `operations` the undos are that can be redone, the next one last.
    private var redoable: [Int] = []

    /// The log that `records` tell of.
    ///
    /// - Parameter records: of one root, by time. What they miss, lost to damage perhaps, is passed over.
    init(replaying records: [StoredOperation]) {
        var places: [OperationID: Int] = [:]
        let idle = OperationLog.idleRuns(records)
        for stored in records where stored.record.kind != .mark && !idle.contains(stored.id) {
            let target = stored.record.target.flatMap { places[$0] }
            if stored.record.kind == .completion {
                guard let target else { continue }
                operations[target].isComplete = true
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

    /// The runs of commands that changed nothing: there is nothing to take back.
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

    /// Takes the operation at `place` in.
    private mutating func move(by place: Int, _ target: Int?) {
        let record = operations[place].record
        switch record.kind {
        case .undo:
            if let target { operations[target].takenBackBy = operations[place].id }
            undoable.removeAll { $0 == target }
            // One that goes on where another was interrupted is the same undo: what comes back is the state before that.
            if !redoable.contains(where: { operations[$0].record.target == record.target }) { redoable.append(place) }
        case .redo:
            if let target { operations[target].takenBackBy = operations[place].id }
            redoable.removeAll { $0 == target }
            if !undoable.contains(where: { operations[$0].isRedo(of: record.target) }) { undoable.append(place) }
        default:
            undoable.append(place)
            redoable = []
        }
    }

    // MARK: Steps

    /// One operation to take back.
    struct Step: Sendable, Hashable {
        /// The operation that is taken back, as far as it is known.
        let operation: LoggedOperation?
        let target: OperationID
        /// The undo or redo that was interrupted and now is done to its end.
        let resumed: OperationRecord?
    }

    /// The next steps of undoing or redoing, the first one first.
    ///
    /// Where the newest operation is such a step and was interrupted, the first one does it to its end.
    func steps(_ reversal: LoggedOperation.Reversal) -> [Step] {
        let places = reversal == .undo ? undoable : redoable
        let steps = places.reversed().map { place in
            Step(operation: operations[place], target: operations[place].id, resumed: nil)
        }
        return (interrupted(reversal).map { [$0] } ?? []) + steps
    }

    private func interrupted(_ reversal: LoggedOperation.Reversal) -> Step? {
        guard let newest = operations.last, !newest.isComplete, newest.record.kind.rawValue == reversal.rawValue,
            let target = newest.record.target
        else { return nil }
        return Step(operation: operations.first { $0.id == target }, target: target, resumed: newest.record)
    }
}

extension LoggedOperation {
    fileprivate func isRedo(of target: OperationID?) -> Bool { record.kind == .redo && record.target == target }
}
