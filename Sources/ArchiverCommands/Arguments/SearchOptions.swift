// The options that `find` and `grep` share.

internal import ArgumentParser

/// How to search, and in which snapshot.
struct SearchOptions: ParsableArguments {
    @Flag(name: [.customShort("i"), .customLong("ignore-case")], help: "Ignore the case of A to Z.")
    var ignoreCase = false

    @OptionGroup var moment: MomentOptions

    @Flag(help: "Print only paths, each followed by a NUL byte.")
    var print0 = false

    var at: ByteArgument? { moment.at }

    /// Throws if these options and those of the command exclude each other.
    func check(_ window: WindowOptions, _ global: GlobalOptions) throws {
        if at != nil, window.hasPeriod { throw ValidationError("--at excludes --since and --until") }
        if print0 && global.json { throw ValidationError("--print0 and --json exclude each other") }
    }
}

/// A snapshot that is named by an option.
struct MomentOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Use this snapshot; a time may be given without @.", valueName: "selector"),
        completion: .selector)
    var at: ByteArgument?
}
