// `archiver sync`: waits until all changes made so far are captured.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import Replicas
internal import SystemPackage

struct SyncCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "sync",
        abstract: "Wait until all changes are captured.",
        discussion: """
            Returns when every change made so far is in the archive, and prints the id of the latest snapshot. With a \
            running watcher this takes milliseconds; without one, it captures the directory itself.

            Examples:
              archiver sync                     # the root that you are in
              before=$(archiver sync ~/project)
            """)

    @Argument(
        help: ArgumentHelp("The directory (default: the root that contains the current directory).", valueName: "dir"))
    var directory: PathArgument?

    @Flag(help: "Also wait until the replicas have everything.")
    var replicas = false

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let archive = try global.openArchive(creating: directory != nil)
        let root =
            try directory.map { try archive.root(holding: $0.path.resolved)?.path ?? $0.path }
            ?? SyncCommand.here(archive)
        let progress = OperationProgress()
        let line = ProgressLine("capturing \(Escaping.text(root.bytes))", progress, console)
        let snapshot: ListedSnapshot
        do {
            defer { line.end() }
            snapshot = try archive.sync(root, newRootExclusions: ExclusionOptions.ofNewRoots, progress: progress)
        }
        if replicas { _ = try ReplicaSending.send(archive.replicaNames(), of: archive, console) }
        let text = try console.isJSON ? JSONText.of(SnapshotJSON(snapshot)) : snapshot.id.short
        try console.output.line(text)
    }

    /// The path of the root that contains the current directory.
    ///
    /// - Throws: `Failure` if no root contains it.
    static func here(_ archive: Archive) throws -> FilePath {
        if let root = try FilePath.currentDirectory.flatMap({ try archive.root(holding: $0) }) { return root.path }
        throw Failure.usage("the current directory is not in a root", remedy: "name a root")
    }
}
