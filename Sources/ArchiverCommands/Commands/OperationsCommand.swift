// `archiver operations`: lists restores, undos, redos and runs, and which of them can be undone or redone.

internal import ArchiveFormat
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct OperationsCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "operations",
        abstract: "List the restores, runs, undos and redos of a directory.",
        discussion: """
            Lists the operations of the current root, or of all roots, newest last: the restored snapshot, the \
            restored part, and the states before and after. The next operations to undo and redo are marked. In a \
            pipe the columns are separated by tabs: id, time, root, kind, path, restored snapshot, snapshot before, \
            snapshot after, remarks, name.

            Examples:
              archiver operations
              archiver operations ~/project --json
            """)

    @Argument(
        help: ArgumentHelp("The root (default: the one that contains the current directory, or all).", valueName: "dir")
    )
    var directory: PathArgument?

    @Flag(help: "List the newest first.")
    var reverse = false

    @Flag(help: "Include all roots.")
    var all = false

    @OptionGroup var window: WindowOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if all && directory != nil { throw ValidationError("--all and a directory exclude each other") }
    }

    func run() throws {
        let console = Console(global)
        Pager.start(console, global)
        let context = try RootContext(global.openArchive(), directory, paths: [], ofAllRoots: all)
        let period = try window.period()
        let found = window.last(
            try context.archive.operations(of: context.root).filter { period.contains($0.record.time) })
        let operations = reverse ? found.reversed() : found
        let place = context.root.map { " in " + Escaping.text($0.path.bytes) } ?? ""
        if !operations.isEmpty { context.reportWhich("operations", console) }
        try OperationList.listing(
            showsRoot: Set(operations.map(\.record.rootPath)).count > 1,
            emptiness: window.isGiven ? "No operation matches." : "Nothing has been restored\(place) yet."
        ).write(operations, console)
    }
}
