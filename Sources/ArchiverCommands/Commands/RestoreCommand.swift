// `archiver restore`: restores a directory, part of it, or a saved state.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "restore",
        abstract: "Restore a directory, or part of it, to an earlier state; or write a saved state to a file.",
        discussion: """
            Restores the directory to the snapshot: writes files that differ and deletes files that the snapshot does \
            not have. Run it in that directory, or name it with --root. Paths after a colon, or after the snapshot, \
            restore only those parts; they are relative to the current directory, and :/PATH to the root's top. The \
            current state is captured first, and 'archiver undo' brings it back. Paths that are excluded from snapshots \
            are left alone unless you name them. Repositories such as .git are restored with the rest.

            If some paths cannot be restored, they are named, the rest is restored, and the exit code is 3. After an \
            interruption, run the command again to finish the job. With --target the snapshot is written to another, \
            empty directory, and nothing else is changed. A single file is written to a path that does not exist yet, \
            or into an empty directory. A saved state, named by its id, label or title, is written \
            as JSON to the file that --target names.

            Examples:
              archiver restore @10m             # the state ten minutes ago
              archiver restore latest~3 '*.md' notes
              archiver restore latest --state "Best Game Ever" --target game.json
            """)

    @Argument(
        help: ArgumentHelp(
            "A snapshot (id, latest, latest~2, @10m, label), or a path in it.", valueName: "selector[:path]"),
        completion: .selector)
    var selector: ByteArgument

    @Argument(help: ArgumentHelp("Paths or patterns in the same snapshot.", valueName: "path"))
    var paths: [ByteArgument] = []

    @Option(help: ArgumentHelp("Restore into this directory (a saved state: to this file).", valueName: "path"))
    var target: PathArgument?

    @OptionGroup var change: ChangeOptions

    @Option(help: .state) var state: String?
    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        if target == nil { try global.refuseReplica() }
        let context = try RootContext(
            global.openArchive(), place, paths: selector.pathAfterColon + paths.map(\.bytes))
        switch try context.selection(selector, titled: state) {
        case .snapshot(let snapshot, let path):
            let all = try context.paths(selector, at: path, paths, in: snapshot)
            try restore(snapshot, all.isEmpty ? [.root] : all, context, console)
        case .state(let state):
            guard paths.isEmpty else {
                throw Failure.usage(
                    "\(state.id.short) is a saved state, which has no paths", remedy: "leave out the paths")
            }
            try restore(state, context.archive, console)
        }
    }

    private func restore(_ state: ListedState, _ archive: Archive, _ console: Console) throws {
        guard let target else {
            throw Failure.usage(
                "\(state.id.short) is a saved state of '\(state.title)', which cannot be restored into a directory",
                remedy: "write it as JSON with --target FILE, or print it with 'archiver cat \(state.id.short)'")
        }
        let export = try archive.export(state, to: target.path, isDryRun: change.dryRun)
        try console.output.line(
            console.isJSON
                ? JSONText.of(StateExportJSON(state: state, export: export, isDryRun: change.dryRun))
                : StateDetails.summary(state, export, isDryRun: change.dryRun))
    }

    /// Whether `--target` names a new file, as in cp(1): one file is restored, and the target does not exist.
    private func targetIsFile(
        _ path: RelativePath, in snapshot: ListedSnapshot, _ context: RootContext
    ) throws -> Bool {
        guard let target, try context.archive.entry(at: path, in: snapshot).map({ $0.kind != .directory }) == true
        else { return false }
        return FileStatus.size(at: target.path) == nil
    }

    private func restore(
        _ snapshot: ListedSnapshot, _ paths: [RelativePath], _ context: RootContext, _ console: Console
    ) throws {
        if paths.count > 1 {
            guard target == nil else {
                throw Failure.usage("--target takes one path", remedy: "restore one path at a time")
            }
            // If one path is misspelt, nothing is restored.
            for path in paths { _ = try context.requiredEntry(at: path, in: snapshot) }
        }
        let options = RestoreOptions(
            path: paths[0], target: target?.path, targetIsFile: try targetIsFile(paths[0], in: snapshot, context),
            root: target == nil ? try context.place(of: snapshot) : nil,
            isDryRun: change.dryRun, interruption: Interruptions.observed())
        let progress = OperationProgress()
        let line = ProgressLine("restoring \(Escaping.text(snapshot.rootPath))", progress, console)
        let actions = RestoreActions(console, isKept: change.dryRun && console.isJSON, isDryRun: change.dryRun, line)
        let result: RestoreResult
        do {
            defer { line.end() }
            result =
                if paths.count == 1 {
                    try context.archive.restore(snapshot, options, progress: progress, onAction: actions.add)
                } else {
                    try context.archive.restore(
                        paths.map { WantedPath($0, in: snapshot) }, options, progress: progress, onAction: actions.add)
                }
        } catch {
            throw try context.explained(error, options.path, snapshot)
        }
        if console.isJSON {
            let json = RestoreJSON(id: snapshot.id, result: result, actions: change.dryRun ? actions.kept : nil)
            try console.output.line(JSONText.of(json))
        } else {
            let word = try context.word(for: result.destination)
            let text = RestoreSummary.text(snapshot, paths, options, result, word)
            try change.dryRun ? console.output.line(text) : console.summary(text)
        }
        console.warn(result)
        if let status = ExitStatus(result) { throw status }
    }
}
