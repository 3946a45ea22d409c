// Options that every command takes.

internal import ArchiverKit
internal import ArgumentParser

/// Which archive, and how to talk about it.
struct GlobalOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The archive; else $ARCHIVER_ARCHIVE, else ~/.local/share/archiver.", valueName: "path"))
    var archive: PathArgument?

    @Flag(help: "Write JSON instead of text; errors too.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print only results and errors.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Tell more.")
    var verbose = false

    @Flag(help: "Use no colours; so does NO_COLOR in the environment.")
    var noColor = false

    func validate() throws {
        if quiet && verbose { throw ValidationError("--quiet and --verbose exclude each other") }
    }

    /// The archive to work on.
    ///
    /// - Parameter creating: whether to make it where there is none.
    func openArchive(creating: Bool = false) throws -> Archive {
        try Archive.open(archive?.path ?? Archive.defaultDirectory, creating: creating)
    }
}
