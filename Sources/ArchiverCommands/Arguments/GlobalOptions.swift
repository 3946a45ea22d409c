// Options that every command takes.

internal import ArchiverKit
internal import ArgumentParser

/// Which archive, and how to talk about it.
struct GlobalOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The archive's directory, in place of $ARCHIVER_ARCHIVE or ~/.local/share/archiver.", valueName: "path"))
    var archive: PathArgument?

    @Flag(help: "Write JSON instead of text; errors too.")
    var json = false

    @Flag(name: .shortAndLong, help: "Say nothing but results and errors.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Say more about what is done.")
    var verbose = false

    @Flag(help: "Use no colours, as does a NO_COLOR in the environment.")
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
