// `archiver undo` and `archiver redo`: undo the last operation on a directory, and take an undo back.

internal import ArchiverKit
internal import ArgumentParser

struct UndoCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "undo",
        abstract: "Undo the last restore or run of a directory.",
        discussion: """
            Returns to the state before the last restore, in the part of the directory that the restore changed. Run \
            it again to undo one more; 'archiver redo' goes the other way. The current state is captured first, so \
            later work is never lost: redo brings it back. Undo works days later, after a restart, and while a \
            watcher runs. After an interruption, run the command again to finish the job. 'archiver operations' lists \
            what can be undone. With nothing to undo, the exit code is 1.

            Examples:
              archiver undo --dry-run           # show what it would do
              archiver undo ~/project --steps 2
            """)

    @OptionGroup var arguments: ReversalArguments

    func run() throws { try arguments.run(.undo) }
}

struct RedoCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "redo",
        abstract: "Redo what was undone last in a directory.",
        discussion: """
            Returns to the state before the last 'archiver undo', with all work done until then. Run it again to redo \
            one more. The current state is captured first, and 'archiver undo' brings it back. After a new restore, \
            earlier undos can no longer be redone. With nothing to redo, the exit code is 1.

            Examples:
              archiver redo --dry-run           # show what it would do
              archiver redo ~/project --steps 2
            """)

    @OptionGroup var arguments: ReversalArguments

    func run() throws { try arguments.run(.redo) }
}
