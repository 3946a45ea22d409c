// `archiver roots`: lists the roots, and changes, moves or retires one.

internal import ArchiverKit
internal import ArgumentParser
internal import Configuring
internal import FileIO
internal import SystemPackage

struct RootsCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "roots",
        abstract:
            "List the roots, change their settings, or move or retire one.",
        discussion: """
            A root is a captured directory on a machine. The machine is identified by an id, not by its host name: by \
            $ARCHIVER_MACHINE_ID, any text, or else by the system's machine id. Set it in containers that have no \
            machine id: otherwise each one is a new machine, and its roots have histories of their own. With --format lines each \
            root is one line, with tabs between the columns: path, host, machine, snapshots, time of the \
            latest, state, exclusions, timing settings that differ from the default, and the place in the configuration \
            that sets them.

            Examples:
              archiver roots
              archiver roots set ~/thesis --settle 5s --max-delay 1m
              archiver roots move ~/thesis ~/done/thesis
              archiver roots forget ~/old-project
              archiver roots forget ~/tmp/experiment --with-history
            """,
        subcommands: [RootsListCommand.self, RootsSetCommand.self, RootsMoveCommand.self, RootsForgetCommand.self],
        defaultSubcommand: RootsListCommand.self)
}

struct RootsListCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(commandName: "list", abstract: "List the roots.")

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let roots = try global.openArchive().rootSummaries()
        let configuration = try ServiceConfiguration.present
        let places = configuration.roots.map { ($0.path, configuration.place($0.source.table.line)) }
        try RootList.listing(configured: Dictionary(places) { first, _ in first }).write(roots, console)
    }
}

struct RootsMoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "move",
        abstract: "Record that a root was moved to another path.",
        discussion: """
            Assigns the root's snapshots, gaps and operations to the new path; nothing is moved on disk. If the \
            directory was captured at its new path already, the two histories are joined, the older one first. A \
            capture or watcher does this by itself if the old path is gone and the directory is the same. With --host, \
            a root of another machine becomes a root of this machine.

            If both have snapshots of the same span of time, say which come first.
            """)

    @Argument(help: ArgumentHelp("Its old path.", valueName: "old"))
    var old: PathArgument

    @Argument(help: ArgumentHelp("Its new path.", valueName: "new"))
    var new: PathArgument

    @Option(help: .host) var host: String?

    @Flag(help: "The snapshots of the old path come first.")
    var oldFirst = false

    @Flag(help: "The snapshots of the new path come first.")
    var newFirst = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if oldFirst && newFirst { throw ValidationError("--old-first and --new-first exclude each other") }
    }

    func run() throws {
        let console = Console(global)
        let archive = try global.openArchive()
        // The old path may be a link to the new one.
        let isRoot = try archive.roots().contains { $0.path == old.path.absolute }
        let root = try RootContext.root(
            at: isRoot ? old.path.absolute : old.path.resolved, onHost: host, in: archive)
        let exists = try move(root, archive)
        let place = new.path.resolved
        console.remark(
            "The snapshots of \(Escaping.text(root.path.bytes)) now belong to \(Escaping.text(place.bytes)).")
        if !exists {
            console.warn(
                "archiver: there is no directory \(Escaping.text(place.bytes)) now; "
                    + "'archiver roots move' can name another one")
        }
    }

    private func move(_ root: ArchivedRoot, _ archive: Archive) throws -> Bool {
        do throws(ArchiverError) {
            return try archive.move(root, to: new.path, joining: oldFirst ? .oldFirst : newFirst ? .newFirst : nil)
        } catch {
            guard error.code == .overlappingHistories else { throw error }
            throw Failure.usage(error.message, remedy: "say which come first: --old-first or --new-first")
        }
    }
}

struct RootsForgetCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "forget",
        abstract: "Stop expecting a directory to be watched; its snapshots stay.",
        discussion: """
            'archiver status' no longer reports that its watcher is missing. Its snapshots stay in the archive. The \
            next capture ends this.

            With --with-history, all snapshots of the root are forgotten, too, so that no list shows it any more. \
            'archiver unforget --last' brings them back until their data is reclaimed.
            """)

    @Argument(help: ArgumentHelp("The directory, as 'archiver roots' shows it.", valueName: "dir"))
    var directory: PathArgument

    @Option(help: .host) var host: String?

    @Flag(help: "Forget all its snapshots, too.")
    var withHistory = false

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let archive = try global.openArchive()
        let console = Console(global)
        let root = try RootContext.root(at: directory.path.resolved, onHost: host, in: archive)
        let name = Escaping.text(root.path.bytes)
        guard withHistory else {
            try archive.retire(root)
            return console.remark("\(name) is no longer expected to be watched; its snapshots stay.")
        }
        let count = try archive.forgetHistory(of: root)
        console.remark(
            "Forgot \(name) and its \(Plural.of(count, "snapshot")); "
                + "'archiver unforget --last' brings them back until their data is reclaimed.")
    }
}
