// Which program's states a command is about.

internal import ArgumentParser

/// The title of the states that a selector is about, where it is about states.
struct StateOptions: ParsableArguments {
    @Option(
        name: .customLong("state"),
        help: ArgumentHelp(
            "The title under which a program saves its states.", valueName: "title"))
    var title: String?
}
