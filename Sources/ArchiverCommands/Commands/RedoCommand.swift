// `archiver redo`: takes back an undo.

internal import ArchiverKit
internal import ArgumentParser

struct RedoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redo",
        abstract: "Take back the last undo in a directory.",
        discussion: """
            Brings back the state before the last 'archiver undo', with the work done until then. Redoing again goes on \
            to the undo before. The present state is captured first, and 'archiver undo' brings it back. After another \
            restore there is nothing to redo; where there is nothing, the exit code is 1.

            Examples:
              archiver redo -n                  what it would do
              archiver redo ~/project --steps 2
            """)

    @OptionGroup var arguments: ReversalArguments

    func run() throws { try arguments.run(.redo) }
}
