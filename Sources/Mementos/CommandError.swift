// What a history says when a command fails.

/// A command that failed; the history is as before, and so is the state, unless ``rollbackCause`` says otherwise.
public struct CommandError: Error, CustomStringConvertible {
    public enum Action: String, Sendable {
        case execute, undo, redo
    }

    /// What the history was about to do.
    public let action: Action
    /// The name of the command, or of the group that did not come to its end.
    public let name: String
    /// What the command, or the one who makes up the group, threw.
    public let cause: any Error
    /// What kept an object from being put back when one of several commands had failed; it is now in between.
    ///
    /// Always nil where the state is a value.
    public internal(set) var rollbackCause: (any Error)?

    /// A command, or the one who makes up a group, uses the history that is running it.
    public struct HistoryInUse: Error, CustomStringConvertible {
        public var description: String {
            "the history is running another command; what this one is to do belongs into that one, or after it"
        }
    }

    public var description: String {
        let failure = "cannot \(action.rawValue) '\(name)': \(cause)"
        return rollbackCause.map { "\(failure); nor go back: \($0)" } ?? failure
    }
}
