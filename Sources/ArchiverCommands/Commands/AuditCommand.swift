// `archiver audit`: compares all files with the latest snapshot, because some changes cause no event.

internal import ArchiveFormat
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import SystemPackage

struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "audit",
        abstract: "Compare watched directories with their snapshots, file by file.",
        discussion: """
            Makes the running watcher compare every file, at low priority, and capture changes that the kernel did \
            not report: writes through a memory map, through a hard link outside the root, or from another machine. \
            Watchers also do this every hour and after the machine has slept.

            Examples:
              archiver audit                    # the root that you are in
              archiver audit ~/project --json
            """)

    @Argument(
        help: ArgumentHelp(
            "The watched directories (default: the root that contains the current directory).", valueName: "dir"))
    var directories: [PathArgument] = []

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let archive = try global.openArchive()
        var audits: [AuditJSON] = []
        for directory in try directories.isEmpty ? here(archive) : named(archive) {
            let result = try archive.audit(directory)
            audits.append(AuditJSON(root: directory.resolved, result: result))
            if !console.isJSON { try console.summary(StatusText.audit(directory.resolved, result)) }
        }
        if console.isJSON { try console.output.line(JSONText.of(audits)) }
    }

    /// The roots that hold the named directories.
    private func named(_ archive: Archive) throws -> [FilePath] {
        try directories.map { try archive.root(holding: $0.path.resolved)?.path ?? $0.path }
    }

    private func here(_ archive: Archive) throws -> [FilePath] {
        if let root = try FilePath.currentDirectory.flatMap({ try archive.root(holding: $0) }) { return [root.path] }
        throw Failure.usage("the current directory is not in a root", remedy: "name a root: archiver audit DIR")
    }
}
