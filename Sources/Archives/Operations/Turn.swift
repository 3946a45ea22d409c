// Turns: what changed between one mark and the next.

public import ArchiveFormat
public import ArchiveStorage
internal import FileIO
public import Restoring
public import Roots

/// The changes from one mark of a root to the next, or to the latest snapshot.
public struct Turn: Sendable {
    /// The mark with which the turn begins.
    public let mark: Mark
    /// The state before it; nil if the archive no longer holds it.
    public let before: ListedSnapshot?
    /// The state after it; nil if the archive no longer holds it.
    public let after: ListedSnapshot?
    /// The number of paths that differ between the two; nil if it cannot be determined.
    public let changes: ChangeCounts?
}

extension Archive {
    /// The turns of a root, latest first.
    ///
    /// Reads only what differs between the states. The latest turn ends at the latest snapshot: call `sync` first to
    /// include the most recent changes.
    ///
    /// - Parameter limit: the maximum number of turns to return.
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func turns(of root: ArchivedRoot, limit: Int? = nil) throws(ArchiverError) -> [Turn] {
        try facing {
            let marks = try marks(of: root)
            guard !marks.isEmpty else { return [] }
            let operations = try operations(of: root)
            var next = UInt64?.none
            var after = try store.catalogue.latestSnapshot(ofRoot: root.path.bytes, machine: root.machine)
            return try marks.prefix(limit ?? marks.count).map { mark in
                let before = try snapshot(of: mark)
                // A restore ends the turn: what it changed is no work of the turn.
                let restore = operations.first { operation in
                    operation.record.kind != .run && operation.record.sequence > mark.sequence
                        && next.map { operation.record.sequence < $0 } ?? true
                }
                let end = try restore.map { try listed($0.record.before) } ?? after
                defer { (after, next) = (before, mark.sequence) }
                return Turn(mark: mark, before: before, after: end, changes: try changes(from: before, to: end))
            }
        }
    }

    private func listed(_ id: SnapshotID?) throws -> ListedSnapshot? {
        guard let id else { return nil }
        return try store.catalogue.snapshots(Catalogue.SnapshotFilter(idPrefix: id.hex, limit: 1)).first
    }

    /// The snapshot of the marked state; nil if the archive no longer holds it.
    ///
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func snapshot(of mark: Mark) throws(ArchiverError) -> ListedSnapshot? {
        try facing {
            try store.catalogue.snapshots(Catalogue.SnapshotFilter(idPrefix: mark.snapshot.hex, limit: 1)).first
        }
    }

    private func changes(from before: ListedSnapshot?, to after: ListedSnapshot?) throws -> ChangeCounts? {
        guard let before, let after else { return nil }
        do { return try changeCounts(from: before, to: after) } catch {
            guard error.code == .damaged || error.code == .newerFormat else { throw error }
            return nil
        }
    }

    /// Restores the state of `mark` in a root, as a restore that `undo` can revert.
    ///
    /// - Parameters:
    ///   - options: the path, and whether it is a dry run; the root is always `root`.
    ///   - onAction: as for `restore`.
    /// - Throws: `ArchiverError`, with the code `noSuchSnapshot` if the archive no longer holds the marked state.
    public func rewind(
        _ root: ArchivedRoot, to mark: Mark, _ options: RestoreOptions = RestoreOptions(),
        progress: OperationProgress? = nil, onAction: (@Sendable (RestoreAction) -> Void)? = nil
    ) throws(ArchiverError) -> RestoreResult {
        guard let snapshot = try snapshot(of: mark) else {
            throw ArchiverError(
                .noSuchSnapshot,
                "the archive no longer holds the state of the mark '\(mark.name)', snapshot \(mark.snapshot.short)",
                remedy: Advice.listMarks.text, path: root.path)
        }
        var options = options
        options.root = root.path
        return try restore(snapshot, options, progress: progress, onAction: onAction)
    }
}
