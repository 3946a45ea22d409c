// Which root a command is about.

internal import ArgumentParser

/// The root a command is about, where the current directory does not tell.
struct RootOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The watched directory that is meant, in place of the one that holds the current directory.",
            valueName: "dir"))
    var root: PathArgument?
}
