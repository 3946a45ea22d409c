// Counts the changes that a capture finds, for the snapshot's record.

package import ArchiveFormat
internal import FileIO

/// Totals, counts and first paths of a capture's changes.
///
/// Every added or removed file changes its directory's time. Such directories are counted only if nothing else changed.
package struct ChangeTally {
    private(set) var totals: Totals
    private var changed = Changed()
    private var directoryTimes = Changed()
    private(set) var problems: [Problem] = []
    private(set) var problemCount = 0
    /// How many of the problems are large files that are captured later.
    private(set) var postponedCount = 0
    private(set) var ownerNames: [UInt32: String]
    private(set) var groupNames: [UInt32: String]
    private let names = AccountNames()

    /// A tally that continues from `parent`, or starts at zero if that is nil.
    package init(parent: Snapshot?) {
        totals = parent?.totals ?? Totals()
        ownerNames = parent?.ownerNames ?? [:]
        groupNames = parent?.groupNames ?? [:]
    }

    private struct Changed {
        var counts = ChangeCounts()
        var paths: [ChangedPath] = []

        mutating func add(_ path: RelativePath, _ change: ChangedPath.Change) {
            switch change {
            case .added: counts.added += 1
            case .modified: counts.modified += 1
            case .removed: counts.removed += 1
            }
            if paths.count < Snapshot.changedPathsLimit { paths.append(ChangedPath(path: path, change: change)) }
        }
    }

    private var counted: Changed { changed.paths.isEmpty ? directoryTimes : changed }

    /// How many paths differ from the parent snapshot.
    package var counts: ChangeCounts { counted.counts }

    /// The first paths that differ, in walk order.
    package var changedPaths: [ChangedPath] { counted.paths }

    /// Counts a difference that goes into the new tree.
    package mutating func add(_ change: ScanChange) {
        if let old = change.old { count(old, by: { $0 &- $1 }) }
        if let new = change.new {
            count(new, by: { $0 &+ $1 })
            if ownerNames[new.owner] == nil { ownerNames[new.owner] = names.owner(new.owner) }
            if groupNames[new.group] == nil { groupNames[new.group] = names.group(new.group) }
        }
        guard change.isDifference, let path = change.path else { return }
        if change.isDirectoryTimeOnly {
            directoryTimes.add(path, .modified)
        } else {
            changed.add(path, change.old == nil ? .added : change.new == nil ? .removed : .modified)
        }
    }

    package mutating func add(_ problem: Problem) {
        problemCount += 1
        if problem.reason == .postponed { postponedCount += 1 }
        guard problems.count < Snapshot.problemsLimit else { return }
        // A directory's problem may be reported after those of its entries.
        let index = problems.firstIndex { problem.path < $0.path } ?? problems.endIndex
        problems.insert(problem, at: index)
    }

    private mutating func count(_ entry: Entry, by operation: (UInt64, UInt64) -> UInt64) {
        switch entry.kind {
        case .file: totals.files = operation(totals.files, 1)
        case .directory: totals.directories = operation(totals.directories, 1)
        default: totals.others = operation(totals.others, 1)
        }
        totals.bytes = operation(totals.bytes, entry.size)
    }
}
