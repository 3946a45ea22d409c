// `archiver audit`: looks at everything, because some changes give no event.

internal import ArchiveFormat
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import SystemPackage

struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Compare watched directories with their snapshots, file by file.",
        discussion: """
            Makes the running watcher compare every file, at low priority, and capture changes that the kernel did \
            not report: writes through an open memory map, through a hard link from outside, or from another \
            machine. Watchers do this every hour and after the machine has slept.

            Examples:
              archiver audit                    the watched directory you are in
              archiver audit ~/project --json
            """)

    @Argument(help: ArgumentHelp("The watched directories (default: the current one).", valueName: "dir"))
    var directories: [PathArgument] = []

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let archive = try global.openArchive()
        var audits: [AuditJSON] = []
        for directory in try directories.isEmpty ? here(archive) : directories.map(\.path) {
            let result = try archive.audit(directory)
            audits.append(AuditJSON(root: directory.resolved, result: result))
            if !console.isJSON { try console.summary(StatusText.audit(directory.resolved, result)) }
        }
        if console.isJSON { try console.output.line(JSONText.of(audits)) }
    }

    private func here(_ archive: Archive) throws -> [FilePath] {
        if let root = try FilePath.currentDirectory.flatMap({ try archive.root(holding: $0) }) { return [root.path] }
        throw Failure.usage("you are in no remembered directory", remedy: "name one: archiver audit DIR")
    }
}
