// The options that select a command's root.

internal import ArgumentParser

/// A directory of this machine, which may not have been captured yet.
struct LocalRootOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The root to use (default: the one that holds the paths, or the current directory).", valueName: "dir"))
    var root: PathArgument?
}

/// The machine of a root.
struct HostOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The root's machine: its name or the beginning of its id (default: this one).", valueName: "name"))
    var host: String?
}

/// The root to use if neither a path of the command nor the current directory chooses it.
struct RootOptions: ParsableArguments {
    @OptionGroup var local: LocalRootOptions
    @OptionGroup var machine: HostOptions

    var root: PathArgument? { local.root }
    var host: String? { machine.host }
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
