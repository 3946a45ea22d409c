// Counts what a capture finds, for the snapshot's record.

internal import ArchiveFormat
internal import FileIO

/// Totals, counts and first paths of a capture's changes.
struct ChangeTally {
    private(set) var totals: Totals
    private(set) var counts = ChangeCounts()
    private(set) var changedPaths: [ChangedPath] = []
    private(set) var problems: [Problem] = []
    private(set) var problemCount = 0
    private(set) var ownerNames: [UInt32: String]
    private(set) var groupNames: [UInt32: String]
    private let names = AccountNames()

    /// A tally that goes on from `parent`'s; from nothing where that is nil.
    init(parent: Snapshot?) {
        totals = parent?.totals ?? Totals()
        ownerNames = parent?.ownerNames ?? [:]
        groupNames = parent?.groupNames ?? [:]
    }

    /// Counts a difference that goes into the new tree.
    mutating func add(_ change: ScanChange) {
        if let old = change.old { count(old, by: { $0 &- $1 }) }
        if let new = change.new {
            count(new, by: { $0 &+ $1 })
            if ownerNames[new.owner] == nil { ownerNames[new.owner] = names.owner(new.owner) }
            if groupNames[new.group] == nil { groupNames[new.group] = names.group(new.group) }
        }
        guard change.isDifference, let path = change.path else { return }
        let kind: ChangedPath.Change
        switch (change.old, change.new) {
        case (nil, _):
            kind = .added
            counts.added += 1
        case (_, nil):
            kind = .removed
            counts.removed += 1
        default:
            kind = .modified
            counts.modified += 1
        }
        if changedPaths.count < Snapshot.changedPathsLimit {
            changedPaths.append(ChangedPath(path: path, change: kind))
        }
    }

    mutating func add(_ problem: Problem) {
        problemCount += 1
        if problems.count < Snapshot.problemsLimit { problems.append(problem) }
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
