// What happened between one mark and the next.

public import ArchiveFormat
public import ArchiveStorage
internal import FileIO
public import Restoring
public import Roots

/// The changes from one mark of a root to the next, or to the latest snapshot.
public struct Turn: Sendable {
    public let mark: Mark
    /// The state before it; nil where the archive does not hold that any more.
    public let before: ListedSnapshot?
    /// The state after it; nil where the archive does not hold that any more.
    public let after: ListedSnapshot?
    /// How many paths differ between the two; nil where that cannot be told.
    public let changes: ChangeCounts?
}

extension Archive {
    /// The turns of a root, the latest first.
    ///
    /// Reads what differs between the states, and nothing that they share. The latest turn goes to the latest snapshot: call
    /// `sync` before, where what has changed just now shall count.
    ///
    /// - Parameter limit: the most turns to give.
    public func turns(of root: ArchivedRoot, limit: Int? = nil) throws(ArchiverError) -> [Turn] {
        try facing {
            let marks = try marks(of: root)
            guard !marks.isEmpty else { return [] }
            var after = try store.catalogue.latestSnapshot(ofRoot: root.path.bytes, machine: root.machine)
            return try marks.prefix(limit ?? marks.count).map { mark in
                let before = try snapshot(of: mark)
                defer { after = before }
                return Turn(mark: mark, before: before, after: after, changes: try changes(from: before, to: after))
            }
        }
    }

    /// The state that `mark` marks; nil where the archive does not hold it any more.
    public func snapshot(of mark: Mark) throws(ArchiverError) -> ListedSnapshot? {
        try facing {
            try store.catalogue.snapshots(Catalogue.SnapshotFilter(idPrefix: mark.snapshot.hex, limit: 1)).first
        }
    }

    private func changes(from before: ListedSnapshot?, to after: ListedSnapshot?) throws -> ChangeCounts? {
        guard let before, let after else { return nil }
        do { return try changeCounts(from: before, to: after) } catch {
            guard error.code == .damaged else { throw error }
            return nil
        }
    }

    /// Brings a root back to the state of `mark`, as a restore that `undo` takes back.
    ///
    /// - Parameters:
    ///   - options: the path, and whether it is a dry run; the root is `root`.
    ///   - onAction: as for `restore`.
    public func rewind(
        _ root: ArchivedRoot, to mark: Mark, _ options: RestoreOptions = RestoreOptions(),
        progress: OperationProgress? = nil, onAction: (@Sendable (RestoreAction) -> Void)? = nil
    ) throws(ArchiverError) -> RestoreResult {
        guard let snapshot = try snapshot(of: mark) else {
            throw ArchiverError(
                .noSuchSnapshot,
                "the archive does not hold the state of the mark '\(mark.name)', snapshot \(mark.snapshot.short), any more",
                remedy: "'archiver turns' shows those that it holds", path: root.path)
        }
        var options = options
        options.root = root.path
        return try restore(snapshot, options, progress: progress, onAction: onAction)
    }
}
