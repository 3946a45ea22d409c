// The error that a history throws when a command fails.

/// A command failed.
///
/// The history is as before, and so is the state, unless ``rollbackCause`` is set.
public struct CommandError: Error, CustomStringConvertible {
    /// What was being done.
    public enum Action: String, Sendable {
        /// The command was executed.
        case execute
        /// The command was undone.
        case undo
        /// The command was executed again.
        case redo
    }

    /// The operation that failed.
    public let action: Action
    /// The name of the command, or of the group that did not complete.
    public let name: String
    /// The error that the command, or the closure of the group, threw.
    public let cause: any Error
    /// The error that stopped the rollback of an object after one of several commands failed; the object is left half
    /// changed.
    ///
    /// Always nil if the state is a value.
    public internal(set) var rollbackCause: (any Error)?

    /// A command, or the closure of a group, used the history that is running it.
    public struct HistoryInUse: Error, CustomStringConvertible {
        public var description: String {
            "the history is already running a command: do this in that command, or after it"
        }
    }

    public var description: String {
        let failure = "cannot \(action.rawValue) '\(name)': \(cause)"
        return rollbackCause.map { "\(failure); rolling back failed as well: \($0)" } ?? failure
    }
}
