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
    static func text(_ record: SnapshotRecord, _ options: RestoreOptions, _ result: RestoreResult) -> String {
        let directory = Escaping.text(result.destination.bytes)
        let part = options.path.isRoot ? "" : Escaping.text(options.path) + (options.target == nil ? " in " : " into ")
        let destination = part + directory
        let parts = [
            ("created", result.created), ("replaced", result.replaced), ("metadata", result.metadata),
            ("deleted", result.deleted),
        ].filter { $0.1 > 0 }
        guard !parts.isEmpty || result.skipped > 0 else {
            return "nothing to do: \(destination) is as it was in \(record.name)"
        }
        let counts = parts.map { name, count in name == "metadata" ? "metadata of \(count)" : "\(count) \(name)" }
        if options.isDryRun {
            return "would restore \(destination) to \(record.name): " + counts.joined(separator: ", ")
        }
        let written = ByteCount.text(result.bytesWritten) + " written"
        let skipped = result.skipped > 0 ? ["\(result.skipped) left alone because they changed meanwhile"] : []
        let all = (counts + skipped + [written]).joined(separator: ", ")
        let text = "restored \(destination) to \(record.name): \(all)"
        guard let before = result.undo?.id.short else { return text }
        return text + "; the state before is \(before): 'archiver restore \(before)' brings it back"
    }
}
