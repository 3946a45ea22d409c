// What changed from a snapshot's parent to it, as far as `show` tells it.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit

/// The first changed paths of a snapshot as lines, and how many more there are.
struct ShownChanges {
    private(set) var lines: [String] = []
    private(set) var more: UInt64

    /// - Parameter details: of `record`.
    init(_ archive: Archive, _ record: ListedSnapshot, _ details: Snapshot, _ console: Console) throws {
        let all = record.changes.added + record.changes.modified + record.changes.removed
        more = all
        if let parent = try ShownChanges.parent(of: record, archive) {
            do {
                try compare(parent, record, archive, console)
                return
            } catch {
                // Where a tree is damaged, what the snapshot itself says can still be shown.
                guard error.code == .damaged else { throw error }
            }
        }
        lines = details.changedPaths.map { changed in
            let sign = changed.change.sign
            return console.style(sign.mark, "\(sign.rawValue) \(Escaping.text(changed.path))")
        }
        more = all - min(all, UInt64(lines.count))
    }

    private mutating func compare(
        _ parent: ListedSnapshot, _ record: ListedSnapshot, _ archive: Archive, _ console: Console
    ) throws(ArchiverError) {
        var directoryTimes: [String] = []
        try archive.differences(from: parent, to: record) { difference in
            if lines.count == Snapshot.changedPathsLimit { return false }
            let line = NameReport.line(difference, console.style)
            if !difference.isDirectoryTimeOnly {
                lines.append(line)
                more -= min(1, more)
            } else if console.isVerbose {
                lines.append(line)
            } else if directoryTimes.count < Snapshot.changedPathsLimit {
                // Each directory of each new file would only be in the way, unless nothing else changed.
                directoryTimes.append(line)
            }
            return true
        }
        if lines.isEmpty {
            lines = directoryTimes
            more -= min(more, UInt64(lines.count))
        }
    }

    /// nil for a first snapshot.
    private static func parent(of record: ListedSnapshot, _ archive: Archive) throws -> ListedSnapshot? {
        guard let parent = record.parent else { return nil }
        do {
            return try archive.snapshot(SnapshotSelector(parent.hex))
        } catch  where error.code == .noSuchSnapshot {
            return nil
        }
    }
}
