// `archiver rewind`: goes back to the state before a turn.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct RewindCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "rewind",
        abstract: "Go back to the state before a turn.",
        discussion: """
            Restores the state of a mark: the latest mark, the second to last with 2, or the latest with the given \
            name. The current state is captured first, and 'archiver undo' brings it back. 'archiver turns' lists the \
            marks. Repositories in the directory (.git, .hg, .jj) stay as they are, with all commits, unless \
            --with-git is given; so do paths that are excluded from snapshots.

            Examples:
              archiver rewind --dry-run         # show what it would do
              archiver rewind 3
              archiver rewind "before the refactoring"
            """)

    @Argument(
        help: ArgumentHelp(
            "The number of turns to go back, or the name of a mark (default: 1).", valueName: "turn"))
    var turn: String?

    @OptionGroup var change: ChangeOptions

    @Flag(help: "Restore repositories (.git, .hg, .jj) as well.")
    var withGit = false

    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let context = try RootContext(global.openArchive(), place)
        let root = try context.oneRoot()
        let mark = try mark(context.archive.marks(of: root), root)
        let options = RestoreOptions(
            isDryRun: change.dryRun, leavesRepositories: !withGit, interruption: Interruptions.observed())
        let progress = OperationProgress()
        let line = ProgressLine("restoring \(Escaping.text(root.path.bytes))", progress, console)
        let actions = RestoreActions(console, isKept: change.dryRun && console.isJSON, isDryRun: change.dryRun, line)
        let result: RestoreResult
        do {
            defer { line.end() }
            result = try context.archive.rewind(root, to: mark, options, progress: progress, onAction: actions.add)
        }
        if console.isJSON {
            let json = RestoreJSON(id: mark.snapshot, result: result, actions: change.dryRun ? actions.kept : nil)
            try console.output.line(JSONText.of(json))
        } else if let snapshot = try context.archive.snapshot(of: mark) {
            let text = RestoreSummary.text(
                snapshot, [.root], options, result, try context.word(for: result.destination))
            try change.dryRun ? console.output.line(text) : console.summary(text)
        }
        if result.repositories > 0, !console.isJSON { console.remark("--with-git restores the repositories, too.") }
        console.warn(result)
        if let status = ExitStatus(result) { throw status }
    }

    /// The mark that the argument names.
    ///
    /// - Parameter marks: all marks, the newest first.
    private func mark(_ marks: [Mark], _ root: ArchivedRoot) throws -> Mark {
        let directory = Escaping.text(root.path.bytes)
        guard !marks.isEmpty else {
            throw Failure(
                status: .failed, code: "noSuchMark", message: "there are no marks in \(directory)",
                remedy: "'archiver mark NAME' marks the current state; 'archiver list' lists all snapshots")
        }
        if let number = turn.map({ Int($0) }) ?? 1 {
            guard number >= 1 else { throw Failure.usage("turns are counted from 1", remedy: "1 is the latest") }
            if number <= marks.count { return marks[number - 1] }
            throw Failure(
                status: .failed, code: "noSuchMark",
                message:
                    "there \(marks.count == 1 ? "is" : "are") only \(Plural.of(marks.count, "mark")) in \(directory)",
                remedy: "'archiver turns' lists them")
        }
        let name = MarkCommand.shortened(turn ?? "")
        if let named = marks.first(where: { $0.name == name }) { return named }
        let nearest = Suggestion.nearest(to: name, among: Array(Set(marks.map(\.name))))
        throw Failure(
            status: .failed, code: "noSuchMark", message: "no mark in \(directory) is named '\(Escaping.text(name))'",
            remedy: nearest.map { "did you mean '\(Escaping.text($0))'?" } ?? "'archiver turns' lists the marks")
    }
}
