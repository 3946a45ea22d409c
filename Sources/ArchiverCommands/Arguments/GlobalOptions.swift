// Options that every command takes.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

/// Which archive, and how to talk about it.
struct GlobalOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The archive (default: $ARCHIVER_ARCHIVE, else ~/.local/share/archiver).", valueName: "path"))
    var archive: PathArgument?

    @Flag(help: "Print JSON instead of text, errors too.")
    var json = false

    @Flag(help: "Do not show long output in a pager.")
    var noPager = false

    @Flag(name: .shortAndLong, help: "Print only results and errors.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Print more.")
    var verbose = false

    @Flag(help: "Print without colours; $NO_COLOR does the same.")
    var noColor = false

    func validate() throws {
        if quiet && verbose { throw ValidationError("--quiet and --verbose exclude each other") }
    }

    /// The archive to work on; what is wrong with it is told on stderr.
    ///
    /// - Parameters:
    ///   - creating: whether to make it where there is none.
    ///   - isTelling: whether to tell; false where the command's result holds it.
    func openArchive(creating: Bool = false, isTelling: Bool = true) throws(ArchiverError) -> Archive {
        let archive = try Archive.open(archive?.path, creating: creating)
        let console = Console(self)
        if isTelling { FindingReport(archive.findings).write(console) }
        if archive.isNew, console.error.isTerminal, !console.isJSON {
            console.remark(
                "made a new archive: \(Escaping.text(archive.directory.bytes)) "
                    + "(if there was one before: is its disk mounted?)")
        }
        return archive
    }
}
