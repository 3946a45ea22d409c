// The snapshot that a capture builds upon, and what follows it.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Roots

/// The latest snapshot of a root, when a capture begins.
struct CaptureParent {
    /// Nil where there is none.
    var record: ListedSnapshot?
    /// What is built upon; nil where there is none, or where it cannot be read: all is read again then, and stored where it is
    /// lost.
    var base: Snapshot?

    /// Whether the root has a snapshot that is not built upon.
    var isPassedOver: Bool { record != nil && base == nil }

    /// The tree that stays where something else about the root is new; nil where nothing is.
    func unchangedTree(_ options: CaptureOptions, _ rules: CaptureRules) -> ChunkID? {
        let isLabelNew = options.label != nil && options.label != record?.label
        return isLabelNew || rules.isNews(after: base) ? record?.tree : nil
    }

    /// Whether a snapshot with `tree` is to follow.
    ///
    /// - Parameter isLost: whether the snapshot of a record cannot be read.
    func isFollowed(
        by tree: ChunkID, _ options: CaptureOptions, _ rules: CaptureRules, isLost: (ListedSnapshot) throws -> Bool
    ) rethrows -> Bool {
        guard isPassedOver, let record else { return true }
        // One that cannot be read needs another in its place, whether or not anything changed.
        return try tree != record.tree || options.label != nil || rules.isNews(after: base) || isLost(record)
    }

    /// Commits the snapshot that follows.
    ///
    /// - Parameter changes: how it differs from this one; nil where nobody knows yet.
    func commitNext(
        _ tree: ChunkID, of root: RootDirectory, _ capture: Capture, _ rules: CaptureRules, _ tally: ChangeTally,
        _ time: Timestamp, _ changes: [PathChange]?, to commit: CommitWriter
    ) throws -> ListedSnapshot {
        let (store, options) = (capture.store, capture.options)
        // Whatever the clock says, a snapshot is later than its parent, and than what was told of another root there.
        let notice = try store.catalogue.latestNoticeTime(path: root.path.bytes, machine: Machine.id)
        let earlier = [record?.time, notice].compactMap { $0?.advanced(byNanoseconds: 1) }
        let sequence = min(record?.sequence ?? 0, Snapshot.sequenceLimit - 1) + 1
        let snapshot = Snapshot(
            time: earlier.reduce(time, max), rootPath: root.path.bytes, host: CurrentProcess.hostName,
            cause: options.cause, label: options.label, parent: record?.id, tree: tree,
            totals: tally.totals.keepingLimits,
            changes: tally.counts, changedPaths: tally.changedPaths, problems: tally.problems,
            storedBytes: commit.storedBytes, ownerNames: tally.ownerNames, groupNames: tally.groupNames,
            exclusions: rules.exclusions, sequence: sequence, machine: Machine.id, isAside: rules.isAside)
        let base = try record.flatMap { try store.base($0.id.chunk) }
        return try commit.commit(snapshot, base: base, changes: changes)
    }
}

extension Totals {
    /// The totals, where they are more than the format has, its limits.
    fileprivate var keepingLimits: Totals {
        Totals(
            files: min(files, FormatLimits.entries), directories: min(directories, FormatLimits.entries),
            others: min(others, FormatLimits.entries), bytes: min(bytes, FormatLimits.bytes))
    }
}
