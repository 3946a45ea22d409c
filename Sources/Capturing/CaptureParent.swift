// The snapshot that a capture builds on, and the commit of the next one.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Roots

/// The latest snapshot of a root when a capture begins.
struct CaptureParent {
    /// The snapshot's row in the catalogue; nil if the root has no snapshot.
    var listed: ListedSnapshot?
    /// The snapshot; nil if there is none or it cannot be read.
    ///
    /// If it cannot be read, the capture reads everything again and stores what is lost.
    var base: Snapshot?

    /// Whether the root has a snapshot that cannot be built on.
    var isPassedOver: Bool { listed != nil && base == nil }

    /// The parent's tree if a label or exclusions are new, which need a snapshot of their own; nil if nothing is new.
    func unchangedTree(_ options: CaptureOptions, _ rules: CaptureRules) -> ChunkID? {
        let isLabelNew = options.label != nil && options.label != listed?.label
        return isLabelNew || rules.isNews(after: base) ? listed?.tree : nil
    }

    /// Whether to commit a snapshot with `tree`.
    ///
    /// - Parameter isLost: whether a listed snapshot cannot be read.
    func isFollowed(
        by tree: ChunkID, _ options: CaptureOptions, _ rules: CaptureRules, isLost: (ListedSnapshot) throws -> Bool
    ) rethrows -> Bool {
        guard isPassedOver, let listed else { return true }
        // A snapshot that cannot be read is replaced even if nothing changed.
        return try tree != listed.tree || options.label != nil || rules.isNews(after: base) || isLost(listed)
    }

    /// Commits the next snapshot.
    ///
    /// - Parameter changes: how it differs from the parent; nil if that is not known yet.
    func commitNext(
        _ tree: ChunkID, of root: RootDirectory, _ capture: Capture, _ rules: CaptureRules, _ tally: ChangeTally,
        _ time: Timestamp, _ changes: [PathChange]?, to commit: CommitWriter
    ) throws -> ListedSnapshot {
        let (store, options) = (capture.store, capture.options)
        // The sequence orders the snapshots, whatever the clock says. Earlier numbers belong to a root that was moved.
        let taken = try store.catalogue.latestNotice(path: root.path.bytes, machine: Machine.id)?.through ?? 0
        let last = max(listed?.sequence ?? 0, taken)
        guard last < Snapshot.sequenceLimit else {
            let name = listed.map { "snapshot \($0.id.short)" } ?? "a notice"
            throw StorageError(
                .damaged, store.layout.directory,
                "\(name) of \(root.path) has the greatest sequence number, so no snapshot can be later",
                remedy: "forget that snapshot")
        }
        let sequence = last + 1
        let snapshot = Snapshot(
            time: time, rootPath: root.path.bytes, host: CurrentProcess.hostName,
            cause: options.cause, label: options.label, parent: listed?.id, tree: tree,
            totals: tally.totals.keepingLimits,
            changes: tally.counts, changedPaths: tally.changedPaths, problems: tally.problems,
            storedBytes: commit.storedBytes, ownerNames: tally.ownerNames, groupNames: tally.groupNames,
            exclusions: rules.exclusions, sequence: sequence, machine: Machine.id, isAside: rules.isAside,
            directory: root.identity)
        let base = try listed.flatMap { try store.base($0.id.chunk) }
        return try commit.commit(snapshot, base: base, changes: changes)
    }
}

extension Totals {
    /// The totals, capped at the limits of the format.
    fileprivate var keepingLimits: Totals {
        Totals(
            files: min(files, FormatLimits.entries), directories: min(directories, FormatLimits.entries),
            others: min(others, FormatLimits.entries), bytes: min(bytes, FormatLimits.bytes))
    }
}
