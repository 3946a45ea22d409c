// Which root a command is about.

internal import ArgumentParser

/// The root a command is about, where the current directory does not tell.
struct RootOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The root to use (default: the one that contains the current directory).", valueName: "dir"))
    var root: PathArgument?

    @Option(
        help: ArgumentHelp(
            "The root's machine: its name or the beginning of its id (default: this one).",
            valueName: "name"))
    var host: String?
}
