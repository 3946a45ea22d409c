// The arguments that `archiver undo` and `archiver redo` share, and the run of both.

internal import ArchiveFormat
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

/// The root, and how many operations to undo or redo.
struct ReversalArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("The root (default: the one that contains the current directory).", valueName: "dir"))
    var directory: PathArgument?

    @Option(help: ArgumentHelp("The number of operations to undo or redo.", valueName: "count"))
    var steps = 1

    @OptionGroup var change: ChangeOptions

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if steps < 1 { throw ValidationError("--steps must be at least 1") }
    }

    func run(_ reversal: LoggedOperation.Reversal) throws {
        let console = Console(global)
        try global.refuseReplica()
        let context = try RootContext(global.openArchive(), directory)
        let (archive, root) = (context.archive, try context.oneRoot())
        let options = ReversalOptions(
            steps: steps, isDryRun: change.dryRun, interruption: Interruptions.observed())
        let progress = OperationProgress()
        let line = ProgressLine("restoring \(Escaping.text(root.path.bytes))", progress, console)
        let actions = RestoreActions(console, isKept: change.dryRun && console.isJSON, isDryRun: change.dryRun, line)
        let results: [OperationResult]
        do {
            defer { line.end() }
            results =
                switch reversal {
                case .undo: try archive.undo(root, options, progress: progress, onAction: actions.add)
                case .redo: try archive.redo(root, options, progress: progress, onAction: actions.add)
                }
        }
        if console.isJSON {
            let json = ReversalJSON(root: root.path, steps: results, actions: change.dryRun ? actions.kept : nil)
            try console.output.line(JSONText.of(json))
        } else {
            let word = try context.word(for: root.path)
            for result in results {
                let text = RestoreSummary.text(result, reversal, isDryRun: change.dryRun, word)
                try change.dryRun ? console.output.line(text) : console.summary(text)
            }
        }
        for result in results {
            if let unfinished = result.unfinished { console.warn(ReversalArguments.remark(on: unfinished)) }
            console.warn(result.restore)
        }
        if let status = results.lazy.compactMap({ ExitStatus($0.restore) }).last { throw status }
    }

    /// What an earlier undo or redo has left undone.
    private static func remark(on operation: LoggedOperation) -> String {
        let count = Plural.of(Int(clamping: operation.failed), "path")
        let text =
            "the \(operation.record.kind.rawValue) of \(LocalTime.text(operation.record.time)) stays incomplete: "
            + "\(count) could not be restored"
        guard let wanted = operation.record.snapshot else { return text }
        return text + " — 'archiver restore \(wanted.short)' with the paths restores them once that is possible"
    }
}
