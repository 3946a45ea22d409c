// `archiver roots`: lists the roots, and changes, moves or retires one.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import SystemPackage

struct RootsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roots",
        abstract:
            "List the roots, change their settings, or move or retire one.",
        discussion: """
            A root is a captured directory on a machine. The machine is identified by an id, not by its host name. In \
            a pipe each root is one line, with tabs between the columns: path, host, machine, snapshots, time of the \
            latest, state, exclusions, timing settings that differ from the default.

            Examples:
              archiver roots
              archiver roots set ~/thesis --settle 5s --max-delay 1m
              archiver roots move ~/thesis ~/done/thesis
              archiver roots forget ~/old-project
            """,
        subcommands: [RootsListCommand.self, RootsSetCommand.self, RootsMoveCommand.self, RootsForgetCommand.self],
        defaultSubcommand: RootsListCommand.self)
}

struct RootsListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the roots.")

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let roots = try global.openArchive().rootSummaries()
        if console.isJSON { return try console.output.line(JSONText.of(roots.map(RootSummaryJSON.init))) }
        if roots.isEmpty {
            return console.remark("The archive holds no snapshots yet; 'archiver watch DIR' makes them.")
        }
        for line in RootList.lines(roots, console) { try console.output.line(line) }
    }
}

struct RootsMoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Record that a root was moved to another path.",
        discussion: """
            Assigns the root's snapshots, gaps and operations to the new path; nothing is moved on disk. Run it \
            before the directory is captured at its new path. With --host, a root of another machine becomes a root \
            of this machine.
            """)

    @Argument(help: ArgumentHelp("Its old path.", valueName: "old"))
    var old: PathArgument

    @Argument(help: ArgumentHelp("Its new path.", valueName: "new"))
    var new: PathArgument

    @Option(
        help: ArgumentHelp("The root's old machine: its name or the beginning of its id.", valueName: "name"))
    var host: String?

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let archive = try global.openArchive()
        let root = try RootContext.root(at: old.path.resolved, onHost: host, in: archive)
        try archive.move(root, to: new.path)
        Console(global).remark(
            "The snapshots of \(Escaping.text(root.path.bytes)) now belong to "
                + "\(Escaping.text(new.path.resolved.bytes)).")
    }
}

struct RootsForgetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Stop expecting a directory to be watched; its snapshots stay.",
        discussion: """
            'archiver status' no longer reports that its watcher is missing. Its snapshots stay in the archive. The \
            next capture ends this.
            """)

    @Argument(help: ArgumentHelp("The directory, as 'archiver roots' shows it.", valueName: "dir"))
    var directory: PathArgument

    @Option(
        help: ArgumentHelp("The root's machine: its name or the beginning of its id.", valueName: "name"))
    var host: String?

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let archive = try global.openArchive()
        let root = try RootContext.root(at: directory.path.resolved, onHost: host, in: archive)
        try archive.retire(root)
        Console(global).remark(
            "\(Escaping.text(root.path.bytes)) is no longer expected to be watched; its snapshots stay.")
    }
}
