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
            Has the running watcher look at every file, at low priority, capture what had changed without its being \
            told (through a memory map that is still open, a hard link from outside, another machine), and mend its own \
            watching. Watchers do so by themselves every hour and after the machine has slept.

            Examples:
              archiver audit                    the watched directory you are in
              archiver audit ~/project --json
            """)

    @Argument(help: ArgumentHelp("The watched directories; without them, the one you are in.", valueName: "dir"))
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
