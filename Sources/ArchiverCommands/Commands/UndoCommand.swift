// `archiver undo`: undoes the last operation on a directory.

internal import ArchiverKit
internal import ArgumentParser

struct UndoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
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
