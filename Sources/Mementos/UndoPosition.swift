// The position of a history: its done and undone steps.

/// The done and undone steps of a history.
///
/// If the commands are `Codable`, a program can store the position with the state and continue from there at its next
/// start.
public struct UndoPosition<SomeCommand: Command>: Sendable {
    /// The steps that can be undone, the next one last.
    public private(set) var done: [UndoStep<SomeCommand>] = []
    /// The steps that can be redone, the next one last.
    public private(set) var undone: [UndoStep<SomeCommand>] = []

    /// Creates an empty position.
    public init() {}

    /// Appends a step that has just been executed.
    ///
    /// - Returns: the forgotten steps: all undone ones, and the oldest done ones beyond `depth`.
    mutating func push(_ step: UndoStep<SomeCommand>, depth: Int) -> [UndoStep<SomeCommand>] {
        let forgotten = undone
        undone = []
        done.append(step)
        return forgotten + limit(to: depth)
    }

    /// Replaces the last done step.
    mutating func replaceLast(with step: UndoStep<SomeCommand>) {
        done.removeLast()
        done.append(step)
    }

    /// Moves the last done step to the undone ones, as `step`, which undoing has altered.
    mutating func moveToUndone(_ step: UndoStep<SomeCommand>) {
        done.removeLast()
        undone.append(step)
    }

    /// Moves the last undone step to the done ones, as `step`, which redoing has altered.
    mutating func moveToDone(_ step: UndoStep<SomeCommand>) {
        undone.removeLast()
        done.append(step)
    }

    /// Forgets the steps that would be undone or redone last, so that at most `depth` steps remain on either side.
    ///
    /// - Returns: the forgotten steps.
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
