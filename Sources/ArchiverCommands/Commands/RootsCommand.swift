// `archiver roots`: the directories that an archive remembers, and what a user tells of them.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import SystemPackage

struct RootsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roots",
        abstract:
            "List the directories that the archive remembers; change how one is watched, where it lies, or give it up.",
        discussion: """
            A root is a directory on a machine. The machine is known by an id of its own, so that a new host name changes \
            nothing. A pipe gets one line a root with tabs between the columns: path, host, machine, snapshots, time \
            of the latest, state, what is left out, how changes are gathered where that is not as usual.

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
        abstract: "Tell archiver that a directory was moved.",
        discussion: """
            Its snapshots, gaps and operations are those of the directory at the new path from then on; nothing is \
            moved on the disk. Tell it before the directory is captured at its new path. With --host, a directory of \
            another machine becomes one of this machine.
            """)

    @Argument(help: ArgumentHelp("Its old path.", valueName: "old"))
    var old: PathArgument

    @Argument(help: ArgumentHelp("Its new path.", valueName: "new"))
    var new: PathArgument

    @Option(
        help: ArgumentHelp("The machine that it was on: its name or the beginning of its id.", valueName: "name"))
    var host: String?

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let archive = try global.openArchive()
        let root = try RootContext.root(at: old.path.resolved, onHost: host, in: archive)
        try archive.move(root, to: new.path)
        Console(global).remark(
            "The snapshots of \(Escaping.text(root.path.bytes)) are now those of \(Escaping.text(new.path.resolved.bytes))."
        )
    }
}

struct RootsForgetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Stop expecting a directory to be watched; its snapshots stay.",
        discussion: """
            'archiver status' does not ask for its watcher any more. Its snapshots stay in the archive. It is remembered \
            again as soon as it is captured again.
            """)

    @Argument(help: ArgumentHelp("The directory, as 'archiver roots' shows it.", valueName: "dir"))
    var directory: PathArgument

    @Option(
        help: ArgumentHelp("The machine that it is on: its name or the beginning of its id.", valueName: "name"))
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
