// Where a history stands: what is done and what is undone.

/// What a history has done and what it has undone; where the commands are `Codable`, a program stores it with the state
/// and goes on from there at its next start.
public struct UndoPosition<SomeCommand: Command>: Sendable {
    /// What can be undone, the next one last.
    public private(set) var done: [UndoStep<SomeCommand>] = []
    /// What can be redone, the next one last.
    public private(set) var undone: [UndoStep<SomeCommand>] = []

    /// Nothing is done yet.
    public init() {}

    /// Adds what has just been done.
    ///
    /// - Returns: what is forgotten: all that was undone, and the oldest of what is done beyond `depth`.
    mutating func push(_ step: UndoStep<SomeCommand>, depth: Int) -> [UndoStep<SomeCommand>] {
        let forgotten = undone
        undone = []
        done.append(step)
        return forgotten + limit(to: depth)
    }

    /// Makes the last done step one that also does what came after it.
    mutating func replaceLast(with step: UndoStep<SomeCommand>) {
        done.removeLast()
        done.append(step)
    }

    /// Moves the last done step, as undoing has left it, to the undone ones.
    mutating func moveToUndone(_ step: UndoStep<SomeCommand>) {
        done.removeLast()
        undone.append(step)
    }

    /// Moves the last undone step, as redoing has left it, to the done ones.
    mutating func moveToDone(_ step: UndoStep<SomeCommand>) {
        undone.removeLast()
        done.append(step)
    }

    /// Forgets what would be undone or redone last, so that no more than `depth` steps remain on either side.
    ///
    /// - Returns: what is forgotten.
    mutating func limit(to depth: Int) -> [UndoStep<SomeCommand>] {
        let forgotten = done.prefix(max(0, done.count - depth)) + undone.prefix(max(0, undone.count - depth))
        done.removeFirst(max(0, done.count - depth))
        undone.removeFirst(max(0, undone.count - depth))
        return Array(forgotten)
    }
}

extension UndoPosition: Equatable where SomeCommand: Equatable {}
extension UndoPosition: Hashable where SomeCommand: Hashable {}
extension UndoPosition: Codable where SomeCommand: Codable {}
