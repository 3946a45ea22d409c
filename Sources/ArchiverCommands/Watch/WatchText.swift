// The lines of `watch`, in words.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import SystemPackage

/// Texts of watch events.
enum WatchText {
    /// "2026-11-21 10:15:30  1a2b3c4d  +1 ~0 -0  1.2 KiB stored".
    static func snapshot(_ record: ListedSnapshot, showsRoot: Bool) -> String {
        let parts = [
            LocalTime.text(record.time), record.id.short, record.changes.text,
            ByteCount.text(record.storedBytes) + " stored",
        ]
        return (parts + (showsRoot ? [Escaping.text(record.rootPath)] : [])).joined(separator: "  ")
    }

    /// A line of the log: when it is written, and what it says.
    static func timed(_ text: String) -> String { LocalTime.text(.now) + "  " + text }

    /// How watching begins and ends; nil for other events.
    static func course(_ event: WatchService.Event) -> String? {
        switch event {
        case .waiting(let root):
            return "\(name(root)) is not there yet; waiting for it"
        case .covered(let root, let outer):
            return "\(name(root)) lies in \(name(outer)) and is captured with it"
        case .audited(let root, let result):
            return "audit of " + StatusText.audit(root, result)
        case .starting(let root):
            return "watching \(name(root)): first capture…"
        case .watching(let root, let directories, let record, let isNew):
            let totals = record.totals
            let holds =
                "\(Plural.of(totals.files, "file")) in \(Plural.of(directories, "directory", "directories")), "
                + ByteCount.text(totals.bytes)
            return "watching \(name(root)): \(holds)" + (isNew ? "" : ", unchanged since \(record.name)")
        case .largeFile(let root, let file):
            return "\(name(root)): \(StatusText.rhythm(file)), everything else at once"
        case .maintained(let result):
            return MaintenanceText.text(result)
        case .stopped(let root):
            return "stopped watching \(name(root))"
        default: return nil
        }
    }

    /// What went wrong or is mended; nil for other events.
    static func trouble(_ event: WatchService.Event) -> String? {
        switch event {
        case .gap(let gap):
            return "\(Escaping.text(gap.rootPath)): \(StatusText.gap(gap))"
        case .degraded(let root, let message, let remedy):
            return "\(name(root)): \(sentence(message, remedy))"
        case .unavailable(let root):
            return "\(name(root)) is not there; waiting for it, and keeping what is archived"
        case .available(let root):
            return "\(name(root)) is back"
        case .error(let root, let error):
            return "\(name(root)): \(sentence(error.message, error.remedy))"
        case .maintained(let result) where result.room.isShort:
            return MaintenanceText.text(result) + "; " + MaintenanceText.shortage(result.room)
        case .notMaintained(let error):
            return "the archive could not be looked after: \(sentence(error.message, error.remedy))"
        case .dropped(let events, let troubles):
            let which = troubles == 0 ? "" : ", \(troubles) of them about trouble: see 'archiver status'"
            return "\(Plural.of(events, "event")) not shown, because nobody was reading\(which)"
        default: return nil
        }
    }

    private static func sentence(_ message: String, _ remedy: String?) -> String {
        Escaping.text(message) + (remedy.map { " — " + Escaping.text($0) } ?? "")
    }

    private static func name(_ root: FilePath) -> String { Escaping.text(root.bytes) }
}
