// `archiver restore`: makes a directory, or a part of it, what it was.

internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import Synchronization

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a directory, or a part of it, what it was.",
        discussion: """
            Makes the directory what it was in the snapshot: writes only what differs, and deletes what was not there \
            then. The present state is captured first, so that a restore can itself be taken back; how is told at the \
            end. Interrupted, the same command finishes the job. With --target the snapshot is written to another, \
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
            try console.output.line(RestoreSummary.text(record, options, result))
        }
        console.warn(result.warnings, count: result.warningCount) { Escaping.text($0) }
        if result.skipped > 0 { throw ExitStatus.incomplete }
    }
}

/// The steps of a restore, shown as they come or kept for the JSON at the end.
private final class RestoreActions: Sendable {
    private let console: Console
    private let isKept: Bool
    private let isDryRun: Bool
    private let line: ProgressLine
    private let actions = Mutex([RestoreAction]())

    init(_ console: Console, isKept: Bool, isDryRun: Bool, _ line: ProgressLine) {
        self.console = console
        self.isKept = isKept
        self.isDryRun = isDryRun
        self.line = line
    }

    var kept: [RestoreAction] { actions.withLock { $0 } }

    func add(_ action: RestoreAction) {
        let text = RestoreSummary.line(action)
        if isKept {
            actions.withLock { $0.append(action) }
        } else if isDryRun {
            // A closed pipe shows again, and is dealt with, when the summary is written.
            line.aside { try? console.output.line(text) }
        } else if console.isVerbose {
            line.aside { console.warn(text) }
        }
    }
}
