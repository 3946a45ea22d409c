// `archiver redo`: takes back an undo.

internal import ArchiverKit
internal import ArgumentParser

struct RedoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redo",
        abstract: "Redo the last undone restore of a directory.",
        discussion: """
            Returns to the state before the last 'archiver undo', with the work done until then. Redo again to go \
            forward one undo more. The current state is captured first, and 'archiver undo' brings it back. A new \
            restore clears what could be redone. With nothing to redo, the exit code is 1.

            Examples:
              archiver redo -n                  what it would do
              archiver redo ~/project --steps 2
            """)

    @OptionGroup var arguments: ReversalArguments

    func run() throws { try arguments.run(.redo) }
}
