// `archiver sync`: returns once everything until now is captured.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import SystemPackage

struct SyncCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Wait until all changes are captured.",
        discussion: """
            Returns when every change made so far is in the archive, and prints the id of the latest snapshot. It \
            asks the running watcher, which takes milliseconds; without a watcher, it compares the whole directory \
            with its latest snapshot.

            Examples:
              archiver sync                     the directory you are in
              before=$(archiver sync ~/project)
            """)

    @Argument(
        help: ArgumentHelp("The directory (default: the root that contains the current directory).", valueName: "dir"))
    var directory: PathArgument?

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let archive = try global.openArchive(creating: directory != nil)
        let root = try directory?.path ?? SyncCommand.here(archive)
        let progress = OperationProgress()
        let line = ProgressLine("capturing \(Escaping.text(root.bytes))", progress, console)
        let snapshot: ListedSnapshot
        do {
            defer { line.end() }
            snapshot = try archive.sync(root, progress: progress)
        }
        let text = try console.isJSON ? JSONText.of(SnapshotJSON(snapshot)) : snapshot.id.short
        try console.output.line(text)
    }

    /// The root that the user stands in.
    static func here(_ archive: Archive) throws -> FilePath {
        if let root = try FilePath.currentDirectory.flatMap({ try archive.root(holding: $0) }) { return root.path }
        throw Failure.usage("you are in no remembered directory", remedy: "name one")
    }
}
