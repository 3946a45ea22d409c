// `archiver operations`: what altered directories, and what can be taken back.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct OperationsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "operations",
        abstract: "List the restores, undos and redos of a directory.",
        discussion: """
            Shows what archiver itself did to the root you are in, or to all roots, the newest at the bottom: which \
            snapshot was brought back, of which part, and the states before and after. The operations that undo and redo \
            would take back next are marked. A pipe gets one line an operation with tabs between the columns: id, \
            time, root, kind, path, snapshot brought back, snapshots before and after, notes, name.

            Examples:
              archiver operations
              archiver operations ~/project --json
            """)

    @Argument(help: ArgumentHelp("A remembered directory; else the one you are in, or all.", valueName: "dir"))
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
            return console.note("Nothing has been restored\(place) yet.")
        }
        context.tellWhich("operations", console)
        for line in OperationList.lines(operations, console) { try console.output.line(line) }
    }
}
