// The options that select a command's root.

internal import ArgumentParser

/// The root to use if neither a path of the command nor the current directory chooses it.
struct RootOptions: ParsableArguments {
    @Option(help: .root) var root: PathArgument?
    @Option(help: .host) var host: String?
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

// Each group of options takes time when the arguments are parsed: commands that need only one of a group declare it
// themselves, with these texts.
extension ArgumentHelp {
    static let root = ArgumentHelp(
        "The root to use (default: the one that holds the paths, or the current directory).", valueName: "dir")
    static let host = ArgumentHelp(
        "The root's machine: its name or the beginning of its id (default: this one).", valueName: "name")
    static let state = ArgumentHelp(
        "Select saved states with this title instead of snapshots.", valueName: "title")
}
