// What a restore did, or would do, in words.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import SystemPackage

/// Texts about restores.
enum RestoreSummary {
    /// "replace   notes/todo.txt".
    static func line(_ action: RestoreAction) -> String {
        let kind = action.kind.rawValue
        let slash = action.entryKind == .directory && !action.path.isRoot ? "/" : ""
        return kind + String(repeating: " ", count: max(1, 10 - kind.count)) + Escaping.text(action.path) + slash
    }

    /// One line with what was done and how to take it back.
    ///
    /// - Parameter word: what follows `archiver undo`; nil to leave that out.
    static func text(
        _ record: ListedSnapshot, _ options: RestoreOptions, _ result: RestoreResult, _ word: String?
    ) -> String {
        let part = options.path.isRoot ? "" : Escaping.text(options.path) + (options.target == nil ? " in " : " into ")
        let text = outcome(part + Escaping.text(result.destination.bytes), record, result, isDryRun: options.isDryRun)
        guard result.operation != nil, let word else { return text }
        guard let before = result.undo?.id.short else { return text + "; 'archiver undo\(word)' takes that back" }
        return text + "; the state before is \(before): 'archiver undo\(word)' brings it back"
    }

    /// "undid the restore of 2026-11-21 10:15:30: restored …", and how to take that back.
    ///
    /// - Parameter word: what follows `archiver undo` and `archiver redo`.
    static func text(
        _ step: OperationResult, _ reversal: LoggedOperation.Reversal, isDryRun: Bool, _ word: String
    ) -> String {
        let part = step.restore.path.isRoot ? "" : Escaping.text(step.restore.path) + " in "
        let destination = part + Escaping.text(step.restore.destination.bytes)
        let text =
            verb(reversal, step, isDryRun: isDryRun) + " " + object(reversal, step.operation)
            + ": " + outcome(destination, step.snapshot, step.restore, isDryRun: isDryRun)
        guard step.restore.operation != nil else { return text }
        let other = reversal == .undo ? "redo" : "undo"
        return text + "; 'archiver \(other)\(word)' takes that back"
    }

    private static func verb(
        _ reversal: LoggedOperation.Reversal, _ step: OperationResult, isDryRun: Bool
    ) -> String {
        switch (reversal, isDryRun, step.isResumed) {
        case (.undo, true, _): "would undo"
        case (.redo, true, _): "would redo"
        case (.undo, false, true): "finished undoing"
        case (.redo, false, true): "finished redoing"
        case (.undo, false, false): "undid"
        case (.redo, false, false): "redid"
        }
    }

    private static func object(_ reversal: LoggedOperation.Reversal, _ operation: LoggedOperation?) -> String {
        guard let operation else { return "an operation whose record is lost" }
        let time = LocalTime.text(operation.record.time)
        return reversal == .redo ? "what was undone at \(time)" : "the \(operation.record.kind.rawValue) of \(time)"
    }

    /// "restored /home/ann to 3fa9c2d1 (2026-11-21 10:15:30): 1 created, 5 bytes written".
    private static func outcome(
        _ destination: String, _ record: ListedSnapshot?, _ result: RestoreResult, isDryRun: Bool
    ) -> String {
        let name = record?.name ?? "what it was before it existed"
        let parts = [
            ("created", result.created), ("replaced", result.replaced), ("metadata", result.metadata),
            ("deleted", result.deleted),
        ].filter { $0.1 > 0 }
        guard !parts.isEmpty || !result.isComplete else {
            let state = record.map { "as it was in \($0.name)" } ?? name
            guard result.leftOut > 0 else { return "nothing to do: \(destination) is \(state)" }
            return "nothing to do but what rules leave out: \(destination) is otherwise \(state); \(leftOut(result))"
        }
        var counts = parts.map { name, count in name == "metadata" ? "metadata of \(count)" : "\(count) \(name)" }
        if isDryRun {
            if result.leftOut > 0 { counts.append(leftOut(result)) }
            return "would restore \(destination) to \(name): " + counts.joined(separator: ", ")
        }
        if result.failed > 0 { counts.append("\(result.failed) not restored") }
        counts.append(ByteCount.text(result.bytesWritten) + " written")
        if result.leftOut > 0 { counts.append(leftOut(result)) }
        let verb = result.isInterrupted ? "interrupted: restored" : "restored"
        let incomplete = result.isComplete ? "" : ", incomplete"
        return "\(verb) \(destination) to \(name)\(incomplete): " + counts.joined(separator: ", ")
    }
}

extension RestoreSummary {
    /// "12 paths left out by rules (name one as ID:PATH to restore it)".
    private static func leftOut(_ result: RestoreResult) -> String {
        let count = result.leftOut == 1 ? "1 path" : "\(result.leftOut) paths"
        return "\(count) left out by rules (name one as ID:PATH to restore it, or restore elsewhere with --target)"
    }
}

extension Console {
    /// What the user should know of a restore: every path that is still to be restored, and other remarks.
    func warn(_ result: RestoreResult) {
        warn(result.warnings, count: result.warningCount, limit: result.warnings.count) { Escaping.text($0) }
    }
}

extension ExitStatus {
    /// The status for what a restore came to; nil where all was done.
    init?(_ result: RestoreResult) {
        if result.isInterrupted {
            self = .interrupted
        } else if result.hasDamage {
            self = .damaged
        } else if !result.isComplete {
            self = .incomplete
        } else {
            return nil
        }
    }
}
