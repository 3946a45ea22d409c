// The options that select a command's root.

internal import ArgumentParser

/// The root to use if neither a path of the command nor the current directory chooses it.
struct RootOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The root to use (default: the one that holds the paths, or the current directory).", valueName: "dir"))
    var root: PathArgument?

    @Option(
        help: ArgumentHelp(
            "The root's machine: its name or the beginning of its id (default: this one).",
            valueName: "name"))
    var host: String?
}

/// One root, or all of them.
struct ScopeOptions: ParsableArguments {
    @Flag(help: "Include all roots.")
    var all = false

    @OptionGroup var place: RootOptions

    func validate() throws {
        if all && (place.root != nil || place.host != nil) {
            throw ValidationError("--all excludes --root and --host")
        }
    }
}
