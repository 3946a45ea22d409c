// The options that select a command's root.

internal import ArgumentParser

/// The root to use if it is not the one that contains the current directory.
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
