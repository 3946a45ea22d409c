// The lines of `watch`, as text.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import SystemPackage

/// Texts of watch events.
enum WatchText {
    /// "2026-11-21 10:15:30  1a2b3c4d  +1 ~0 -0  1.2 KiB stored  + notes.txt".
    ///
    /// - Parameter words: what the snapshot changed; empty if that is not known.
    static func snapshot(_ snapshot: ListedSnapshot, showsRoot: Bool, words: String = "") -> String {
        let parts = [
            LocalTime.text(snapshot.time), snapshot.id.short, snapshot.changes.text,
            ByteCount.text(snapshot.storedBytes) + " stored",
        ]
        return (parts + (showsRoot ? [Escaping.text(snapshot.rootPath)] : []) + (words.isEmpty ? [] : [words]))
            .joined(separator: "  ")
    }

    /// A line of the log with its time.
    static func timed(_ text: String) -> String { LocalTime.text(.now) + "  " + text }

    /// The text of a normal event; nil for snapshots and problems.
    static func course(_ event: WatchService.Event) -> String? {
        switch event {
        case .waiting(let root):
            return "\(name(root)) does not exist yet; waiting for it"
        case .covered(let root, let outer):
            return "\(name(root)) is inside \(name(outer)) and is captured with it"
        case .audited(let root, let result):
            return "audit of " + StatusText.audit(root, result)
        case .starting(let root, let isNew):
            return "watching \(name(root)): " + (isNew ? "first capture…" : "comparing with the latest snapshot…")
        case .watching(let root, let directories, let snapshot, let isNew):
            let totals = snapshot.totals
            let holds =
                "\(Plural.of(totals.files, "file")) in \(Plural.of(directories, "directory", "directories")), "
                + ByteCount.text(totals.bytes)
            return "watching \(name(root)): \(holds)" + (isNew ? "" : ", unchanged since \(snapshot.name)")
        case .largeFile(let root, let file):
            return "\(name(root)): \(StatusText.rhythm(file)), all other files immediately"
        case .maintained(let result):
            return MaintenanceText.text(result)
        case .stopped(let root):
            return "stopped watching \(name(root))"
        default: return nil
        }
    }

    /// The text of a problem, or of the end of one; nil for other events.
    static func warning(_ event: WatchService.Event) -> String? {
        switch event {
        case .gap(let gap):
            return "\(Escaping.text(gap.rootPath)): \(StatusText.gap(gap))"
        case .fallback(let root, let message, let remedy):
            return "\(name(root)): \(sentence(message, CommandRemedy.text(remedy, path: root)))"
        case .unavailable(let root):
            return "\(name(root)) is missing; waiting for it, its snapshots stay"
        case .available(let root):
            return "\(name(root)) is available again"
        case .related(let root, let related):
            return RelatedRootText.text(related, root)
        case .wrongClock(let root, let later):
            return "\(name(root)): \(CaptureSummary.wrongClock(later))"
        case .error(let root, let error):
            return "\(name(root)): \(sentence(error.message, CommandRemedy.text(error.remedy, path: error.path)))"
        case .maintained(let result) where result.isShort:
            return MaintenanceText.text(result) + "; " + MaintenanceText.shortage(result)
        case .notMaintained(let error):
            return
                "the archive could not be maintained: \(sentence(error.message, CommandRemedy.text(error.remedy, path: error.path)))"
        case .replicaFailed(let name, let error):
            let remedy = CommandRemedy.text(error.remedy, path: error.path)
            return
                "the replica '\(Escaping.text(name))' is behind; captures go on, and it is tried again: "
                + sentence(error.message, remedy)
        case .replicaComplete(let name): return "the replica '\(Escaping.text(name))' has everything again"
        case .dropped(let events, let warnings):
            let which = warnings == 0 ? "" : ", \(warnings) of them warnings: see 'archiver status'"
            return "\(Plural.of(events, "event")) not shown, because the output was not read\(which)"
        default: return nil
        }
    }

    private static func sentence(_ message: String, _ remedy: String?) -> String {
        Escaping.text(message) + (remedy.map { " — " + Escaping.text($0) } ?? "")
    }

    private static func name(_ root: FilePath) -> String { Escaping.text(root.bytes) }
}
