// `archiver redo`: redoes what was undone.

internal import ArchiverKit
internal import ArgumentParser

struct RedoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
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
