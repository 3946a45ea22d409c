// Which root a command is about.

internal import ArgumentParser

/// The root a command is about, where the current directory does not tell.
struct RootOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Whose snapshots are meant: a remembered directory; else the one you are in.",
            valueName: "dir"))
    var root: PathArgument?
}
