// `archiver undo`: takes back what altered a directory last.

internal import ArchiverKit
internal import ArgumentParser

struct UndoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Take back the last restore of a directory.",
        discussion: """
            Brings back the state before the last restore, in the part of the directory that it concerned. Undoing again \
            goes on to the restore before; redo goes the other way. The present state is captured first, so that work \
            done since is never lost: redo brings it back. Works after days and restarts alike, and beside a running \
            watcher. Interrupted, the same command finishes the job. 'archiver operations' shows what there is to undo; \
            where there is nothing, the exit code is 1.

            Examples:
              archiver undo -n                  what it would do
              archiver undo ~/project --steps 2
            """)

    @OptionGroup var arguments: ReversalArguments

    func run() throws { try arguments.run(.undo) }
}
