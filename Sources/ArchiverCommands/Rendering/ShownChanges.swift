// The changes of a snapshot that `show` lists.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit

/// The first changed paths of a snapshot as lines, and the number of further ones.
struct ShownChanges {
    private(set) var lines: [String] = []
    private(set) var more: UInt64

    /// - Parameter details: the details of `snapshot`.
    init(_ archive: Archive, _ snapshot: ListedSnapshot, _ details: Snapshot, _ console: Console) throws {
        let all = snapshot.changes.added + snapshot.changes.modified + snapshot.changes.removed
        more = all
        if let parent = try ShownChanges.parent(of: snapshot, archive) {
            do {
                try compare(parent, snapshot, archive, console)
                return
            } catch {
                // If a tree is damaged, the paths recorded in the snapshot can still be shown.
                guard error.code == .damaged || error.code == .newerFormat else { throw error }
            }
        }
        lines = details.changedPaths.map { changed in
            let sign = changed.change.sign
            return console.style(sign.mark, "\(sign.rawValue) \(Escaping.text(changed.path))")
        }
        more = all - min(all, UInt64(lines.count))
    }

    private mutating func compare(
        _ parent: ListedSnapshot, _ snapshot: ListedSnapshot, _ archive: Archive, _ console: Console
    ) throws(ArchiverError) {
        var directoryTimes: [String] = []
        try archive.differences(from: parent, to: snapshot) { difference in
            if lines.count == Snapshot.changedPathsLimit { return false }
            let line = NameReport.line(difference, console.style)
            if !difference.isDirectoryTimeOnly {
                lines.append(line)
                more -= min(1, more)
            } else if console.isVerbose {
                lines.append(line)
            } else if directoryTimes.count < Snapshot.changedPathsLimit {
                // Directories of which only the time changed are shown only if nothing else changed.
                directoryTimes.append(line)
            }
            return true
        }
        if lines.isEmpty {
            lines = directoryTimes
            more -= min(more, UInt64(lines.count))
        }
    }

    /// The parent of `snapshot`; nil for a first snapshot, or if the parent no longer exists.
    private static func parent(of snapshot: ListedSnapshot, _ archive: Archive) throws -> ListedSnapshot? {
        guard let parent = snapshot.parent else { return nil }
        do {
            return try archive.snapshot(SnapshotSelector(parent.hex))
        } catch  where error.code == .noSuchSnapshot {
            return nil
        }
    }
}
