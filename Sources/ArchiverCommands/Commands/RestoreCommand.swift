// `archiver restore`: makes a directory, or a part of it, what it was.

internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a directory, or a part of it, what it was.",
        discussion: """
            Makes the directory what it was in the snapshot: writes only what differs, and deletes what was not there \
            then. The present state is captured first, and 'archiver undo' brings it back. Interrupted, the same command finishes the job. With --target the snapshot is written to another, \
            empty directory, and nothing else is touched.

            Examples:
              archiver restore @10m             the state of ten minutes ago
              archiver restore latest:notes -n  what bringing back notes would do
            """)

    @Argument(
        help: ArgumentHelp(
            "A snapshot (id, latest, latest~2, @10m, label), or a path in it.", valueName: "selector[:path]"))
    var selector: ByteArgument

    @Option(help: ArgumentHelp("Restore into this directory instead.", valueName: "dir"))
    var target: PathArgument?

    @Flag(name: [.customShort("n"), .long], help: "Only say what would be done.")
    var dryRun = false

    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let named = try SnapshotPath(selector)
        let context = try RootContext(global.openArchive(), place)
        try context.requireOneRoot(for: named.selector)
        let record = try context.snapshot(named.selector)
        let options = RestoreOptions(path: named.path ?? .root, target: target?.path, isDryRun: dryRun)
        let progress = OperationProgress()
        let line = ProgressLine("restoring \(Escaping.text(record.rootPath))", progress, console)
        let actions = RestoreActions(console, isKept: dryRun && console.isJSON, isDryRun: dryRun, line)
        let result: RestoreResult
        do {
            defer { line.end() }
            result = try context.archive.restore(record, options, progress: progress, onAction: actions.add)
        }
        if console.isJSON {
            let json = RestoreJSON(id: record.id, result: result, actions: dryRun ? actions.kept : nil)
            try console.output.line(JSONText.of(json))
        } else {
            try console.output.line(
                RestoreSummary.text(record, options, result, try context.word(for: result.destination)))
        }
        console.warn(result.warnings, count: result.warningCount) { Escaping.text($0) }
        if result.skipped > 0 { throw ExitStatus.incomplete }
    }
}
