// `archiver status`: whether everything is watched and captured.

internal import ArchiverKit
internal import ArgumentParser

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Prove that directories are watched and their changes captured.",
        discussion: """
            Asks each running watcher, which answers once it has taken in all that changed before the question: nothing \
            here is read off a file that a dead process may have left. Tells of every remembered directory since when \
            it is watched and how, what could not be captured, and when changes may have been seen late. Large files that \
            change all the time are captured less often: those that wait are named, and 'archiver sync' captures them. More than three \
            roots get a line each; -v, or naming one, tells more. The exit code is 0 only if all is well, and 2 if the \
            archive is damaged; else each line that begins with “!” says why, and what to do.

            Examples:
              archiver status
              archiver status ~/project --json
            """)

    @Argument(help: ArgumentHelp("The directory to ask about; without it, all.", valueName: "dir"))
    var directory: PathArgument?

    @Option(help: ArgumentHelp("How long a watcher may take to answer.", valueName: "duration"))
    var patience = DurationArgument(.seconds(15))

    @OptionGroup var global: GlobalOptions

    /// Of more roots than this, one line each is enough.
    private static let mostInDetail = 3

    func run() throws {
        let console = Console(global)
        let archive = try global.openArchive(isTelling: false)
        let status = try archive.status(of: directory?.path, patience: patience.duration)
        if console.isJSON {
            try console.output.line(JSONText.of(ArchiveStatusJSON(status)))
        } else {
            let isBrief = status.roots.count > StatusCommand.mostInDetail && !console.isVerbose
            for line in StatusText.lines(status, console.style, isBrief: isBrief) { try console.output.line(line) }
        }
        if !status.damage.isEmpty { throw ExitStatus.damaged }
        if !status.isWell { throw ExitStatus.failed }
    }
}
