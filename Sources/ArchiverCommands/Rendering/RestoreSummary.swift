// The result of a restore, or the plan of a dry run, as text.

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

    /// One line with the result and how to undo it.
    ///
    /// - Parameters:
    ///   - paths: the restored parts.
    ///   - word: the argument of `archiver undo`, with a leading blank.
    static func text(
        _ snapshot: ListedSnapshot, _ paths: [RelativePath], _ options: RestoreOptions, _ result: RestoreResult,
        _ word: String
    ) -> String {
        let name = paths.count == 1 ? Escaping.text(paths[0]) : Plural.of(paths.count, "path")
        let part = paths.contains(.root) ? "" : name + (options.target == nil ? " in " : " into ")
        let text = outcome(part + Escaping.text(result.destination.bytes), snapshot, result, isDryRun: options.isDryRun)
        guard result.operation != nil else { return text }
        guard let before = result.undo?.id.short else { return text + "; 'archiver undo\(word)' reverts this" }
        return text + "; the state before is \(before): 'archiver undo\(word)' brings it back"
    }

    /// "undid the restore of 2026-11-21 10:15:30: restored …", and how to revert it.
    ///
    /// - Parameter word: the argument of `archiver undo` and `archiver redo`, with a leading blank.
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
        return text + "; 'archiver \(other)\(word)' reverts this"
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
        _ destination: String, _ snapshot: ListedSnapshot?, _ result: RestoreResult, isDryRun: Bool
    ) -> String {
        let name = snapshot?.name ?? "the state before it existed"
        let parts = [
            ("created", result.created), ("replaced", result.replaced), ("metadata", result.metadataOnly),
            ("deleted", result.deleted),
        ].filter { $0.1 > 0 }
        guard !parts.isEmpty || !result.isComplete else {
            let state = snapshot.map { "as it was in \($0.name)" } ?? "in \(name)"
            let text = "nothing to do: \(destination) is \(state)"
            let others = [
                result.excluded > 0 ? "excluded paths" : nil, result.repositories > 0 ? "repositories" : nil,
            ].compactMap(\.self)
            if others.isEmpty { return text }
            let counts = leftAloneCounts(result).joined(separator: ", ")
            return "\(text), except \(others.joined(separator: " and ")); \(counts)"
        }
        var counts = parts.map { name, count in name == "metadata" ? "metadata of \(count)" : "\(count) \(name)" }
        if isDryRun {
            counts += leftAloneCounts(result)
            return "would restore \(destination) to \(name): " + counts.joined(separator: ", ")
        }
        if result.failed > 0 { counts.append("\(result.failed) not restored") }
        counts.append(ByteCount.text(result.bytesWritten) + " written")
        counts += leftAloneCounts(result)
        let verb = result.isInterrupted ? "interrupted: restored" : "restored"
        let incomplete = result.isComplete ? "" : ", incomplete"
        return "\(verb) \(destination) to \(name)\(incomplete): " + counts.joined(separator: ", ")
    }
}

extension RestoreSummary {
    /// "12 paths excluded by rules (name one as ID:PATH to restore it, or …)".
    private static func leftAloneCounts(_ result: RestoreResult) -> [String] {
        var counts: [String] = []
        if result.excluded > 0 {
            counts.append(
                "\(Plural.of(result.excluded, "path")) excluded by rules (name one as ID:PATH to restore it, or restore "
                    + "elsewhere with --target)")
        }
        if result.repositories > 0 {
            counts.append(
                "\(Plural.of(result.repositories, "path")) of repositories left alone")
        }
        return counts
    }
}

extension Console {
    /// Prints the warnings of a restore, such as each path that was not restored.
    func warn(_ result: RestoreResult) {
        warn(result.warnings, count: result.warningCount, limit: result.warnings.count) { Escaping.text($0) }
    }
}

extension ExitStatus {
    /// The status for the result of a restore; nil if all was restored.
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
