// Options that every command takes.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

/// Options for the archive and the form of the output.
struct GlobalOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The archive (default: $ARCHIVER_ARCHIVE, or ~/.local/share/archiver).", valueName: "path"))
    var archive: PathArgument?

    @Flag(help: "Print results and errors as JSON.")
    var json = false

    @Flag(help: "Do not use a pager for long output.")
    var noPager = false

    @Flag(name: .shortAndLong, help: "Print only results and errors.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Print more details.")
    var verbose = false

    @Flag(help: "Do not use colours; $NO_COLOR does the same.")
    var noColor = false

    func validate() throws {
        if quiet && verbose { throw ValidationError("--quiet and --verbose exclude each other") }
    }

    /// Opens the archive and reports its findings on stderr.
    ///
    /// - Parameters:
    ///   - creating: whether to create the archive if it does not exist.
    ///   - reportsFindings: whether to report findings; false if the command's result contains them.
    func openArchive(creating: Bool = false, reportsFindings: Bool = true) throws(ArchiverError) -> Archive {
        let archive = try Archive.open(archive?.path, creating: creating)
        let console = Console(self)
        if reportsFindings { FindingReport(archive.findings).write(console) }
        if archive.isNew, console.error.isTerminal, !console.isJSON {
            console.remark(
                "created a new archive: \(Escaping.text(archive.directory.bytes)) "
                    + "(if you expected an existing one: is its disk mounted?)")
        }
        return archive
    }
}
