// The option that selects the saved states of a program.

internal import ArgumentParser

/// The title of the saved states that a selector names.
struct StateOptions: ParsableArguments {
    @Option(
        name: .customLong("state"),
        help: ArgumentHelp(
            "Select saved states with this title instead of snapshots.", valueName: "title"))
    var title: String?
}
