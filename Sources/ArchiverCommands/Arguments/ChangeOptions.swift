// The option of every command that changes something.

internal import ArgumentParser

/// Whether to only show a change.
struct ChangeOptions: ParsableArguments {
    @Flag(name: .long, help: "Show what would be done, and change nothing.")
    var dryRun = false
}
