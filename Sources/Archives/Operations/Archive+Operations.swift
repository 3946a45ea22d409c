// Restoring, taking back what altered a root, and the log of both.

internal import ArchiveFormat
public import ArchiveStorage
internal import FileIO
public import Restoring
public import Roots
internal import SnapshotTree
internal import SystemPackage

extension Archive {
    /// Makes a directory equal to `snapshot`, or a part of it to a part of the snapshot.
    ///
    /// In place, the present state is captured first, so that nothing is lost, and the restore is noted in the root's
    /// operation log, so that `undo` takes it back. Only what differs is written. Killed half-way, the same call finishes
    /// the job. What cannot be restored is named in the result, and the rest is restored.
    ///
    /// In place, a snapshot goes only into the root that it is of; one of another machine only if `options.root` says so.
    ///
    /// - Parameters:
    ///   - onAction: told of every action before it is carried out; of a dry run, of every action that would be.
    /// - Throws: `ArchiverError`, of the code `otherRoot` where the snapshot is not of the root that is meant; what was restored until then stays, everything else is as it was.
    public func restore(
        _ snapshot: ListedSnapshot, _ options: RestoreOptions = RestoreOptions(),
        progress: OperationProgress? = nil, onAction: (@Sendable (RestoreAction) -> Void)? = nil
    ) throws(ArchiverError) -> RestoreResult {
        try facing {
            try checkListing(of: snapshot)
            let source = RestoreSource(snapshot, at: options.path, in: nodes)
            guard try source.entry() != nil else { throw noSuchPath(options.path, in: snapshot) }
            if let target = options.target {
                let restore = RestoreElsewhere(
                    source, to: target, interruption: options.interruption,
                    progress: progress, onAction: onAction)
                return try options.isDryRun ? restore.plan() : restore.run()
            }
            let place = try place(of: snapshot, named: options.root)
            let restore = RestoreInPlace(
                source, rootPath: place, interruption: options.interruption,
                progress: progress, onAction: onAction)
            if options.isDryRun { return try restore.plan() }
            let lock = try RootLock.capturing(place, in: store.layout)
            let result = try restore.run(OperationJournal(store, place, .restore))
            withExtendedLifetime(lock) {}
            return result
        }
    }

    private func noSuchPath(_ path: RelativePath, in snapshot: ListedSnapshot) -> ArchiverError {
        ArchiverError(
            .noSuchPath, "snapshot \(snapshot.id.short) holds nothing at '\(path)'",
            remedy: "'archiver show --entries \(snapshot.id.short)' lists what it holds")
    }
}

extension Archive {
    /// What altered roots, by time, the oldest first.
    ///
    /// - Parameter root: of this root only; nil for all.
    public func operations(of root: ArchivedRoot? = nil) throws(ArchiverError) -> [LoggedOperation] {
        try facing {
            let number = try root.map { try self.number(of: $0) ?? -1 }
            let records = try store.catalogue.operations(root: number)
            let logs = Dictionary(grouping: records) { RootName(path: $0.record.rootPath, machine: $0.record.machine) }
                .values.map { OperationLog(replaying: $0).operations }
            return logs.flatMap(\.self).sorted { ($0.record.time, $0.id) < ($1.record.time, $1.id) }
        }
    }

    /// Takes back what altered `root` last: brings back the state before it, in the part that it concerned.
    ///
    /// Undoing again goes on to the operation before. The present state is captured first, so that nothing is lost, and
    /// `redo` brings it back. Only what differs is written. Interrupted, the same call finishes the job.
    ///
    /// - Parameters:
    ///   - root: a root on this machine; it is made anew where it does not exist.
    ///   - onAction: as for `restore`.
    /// - Returns: a result for each step.
    /// - Throws: `ArchiverError`, with the code `nothingToUndo` where `root` has fewer operations than are to be undone;
    ///   then nothing was touched. Another error may come after some steps are done: `operations` tells.
    public func undo(
        _ root: ArchivedRoot, _ options: ReversalOptions = ReversalOptions(), progress: OperationProgress? = nil,
        onAction: (@Sendable (RestoreAction) -> Void)? = nil
    ) throws(ArchiverError) -> [OperationResult] {
        try facing {
            try Reversing(self, root.path, .undo, progress, onAction).run(options)
        }
    }

    /// Takes back the last undo of `root`: brings back the state before it.
    ///
    /// As `undo` in everything else. What altered the root otherwise ends what can be redone.
    ///
    /// - Throws: `ArchiverError`, with the code `nothingToRedo` where fewer undos can be taken back than are to be.
    public func redo(
        _ root: ArchivedRoot, _ options: ReversalOptions = ReversalOptions(), progress: OperationProgress? = nil,
        onAction: (@Sendable (RestoreAction) -> Void)? = nil
    ) throws(ArchiverError) -> [OperationResult] {
        try facing {
            try Reversing(self, root.path, .redo, progress, onAction).run(options)
        }
    }
}

private struct RootName: Hashable {
    let path: [UInt8]
    let machine: MachineID
}
