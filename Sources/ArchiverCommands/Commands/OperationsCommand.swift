// `archiver operations`: lists restores, undos, redos and runs, and which of them can be undone or redone.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct OperationsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
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

    @Flag(help: "List the operations of all roots.")
    var all = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if all && directory != nil { throw ValidationError("--all and a directory exclude each other") }
    }

    func run() throws {
        let console = Console(global)
        Pager.start(console, global)
        let context = try RootContext(global.openArchive(), directory, ofAllRoots: all)
        let found = try context.archive.operations(of: context.root)
        let operations = reverse ? found.reversed() : found
        if console.isJSON { return try console.output.line(JSONText.of(operations.map(OperationJSON.init))) }
        if operations.isEmpty {
            let place = context.root.map { " in " + Escaping.text($0.path.bytes) } ?? ""
            return console.remark("Nothing has been restored\(place) yet.")
        }
        context.reportWhich("operations", console)
        for line in OperationList.lines(operations, console) { try console.output.line(line) }
    }
}
