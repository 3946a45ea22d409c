// Restores, undoes and redoes, and lists the operations of roots.

internal import ArchiveFormat
public import ArchiveStorage
internal import FileIO
public import Restoring
public import Roots
internal import SnapshotTree
internal import SystemPackage

extension Archive {
    /// Makes a directory equal to `snapshot`, or a part of it equal to that part of the snapshot.
    ///
    /// A restore in place first captures the present state, so nothing is lost, and records an operation, so that
    /// `undo` can take the restore back. It writes only what differs. If it is killed halfway, the same call finishes
    /// it. Entries that cannot be restored are named in the result, and the rest is restored.
    ///
    /// A snapshot can be restored in place only into its own root. If that root is on another machine, `options.root`
    /// must name it.
    ///
    /// - Parameters:
    ///   - onAction: called with each action before it is carried out; in a dry run, with each planned action.
    /// - Throws: `ArchiverError`, with the code `otherRoot` if the snapshot does not belong to the root. After an
    ///   error, what was restored stays, and everything else is unchanged.
    @available(*, noasync, message: "use `await`; at the top level of main.swift, in an async function")
    public func restore(
        _ snapshot: ListedSnapshot, _ options: RestoreOptions = RestoreOptions(),
        progress: OperationProgress? = nil, onAction: (@Sendable (RestoreAction) -> Void)? = nil
    ) throws(ArchiverError) -> RestoreResult {
        try facing {
            try checkListing(of: snapshot)
            guard let target = options.target else {
                let wanted = WantedPath(options.path, in: snapshot)
                return try restore([wanted], options, progress: progress, onAction: onAction)
            }
            let source = try source(of: WantedPath(options.path, in: snapshot))
            let isFile = try options.targetIsFile && source.entry()?.kind != .directory
            let restore = RestoreElsewhere(
                source, to: target, isFile: isFile, interruption: options.interruption, progress: progress,
                onAction: onAction)
            return try options.isDryRun ? restore.plan() : restore.run()
        }
    }

    /// Restores paths of one root in place, each from a snapshot of that root, as one operation.
    ///
    /// - Parameters:
    ///   - wanted: at least one path.
    ///   - options: as for a restore of one path; its path and target are not used.
    ///   - onAction: as for a restore of one path.
    /// - Throws: `ArchiverError`, with the code `noSuchPath` if a snapshot does not have its path; then nothing is
    ///   changed.
    @available(*, noasync, message: "use `await`; at the top level of main.swift, in an async function")
    public func restore(
        _ wanted: [WantedPath], _ options: RestoreOptions = RestoreOptions(), progress: OperationProgress? = nil,
        onAction: (@Sendable (RestoreAction) -> Void)? = nil
    ) throws(ArchiverError) -> RestoreResult {
        try facing {
            for snapshot in Set(wanted.map(\.snapshot)) { try checkListing(of: snapshot) }
            let sources = try wanted.map(source)
            let places = try Set(wanted.map(\.snapshot)).map { try self.place(of: $0, named: options.root) }
            guard let place = places.first, places.allSatisfy({ $0 == place }) else {
                throw ArchiverError(
                    .otherRoot, "the paths to restore do not belong to one root",
                    remedy: "restore the paths of each root on their own")
            }
            let restore = RestoreInPlace(
                sources, rootPath: place, leavesRepositories: options.leavesRepositories,
                interruption: options.interruption, progress: progress, onAction: onAction)
            if options.isDryRun { return try restore.plan() }
            let lock = try RootLock.capturing(place, in: store.layout)
            let result = try restore.run(OperationJournal(store, place, .restore))
            withExtendedLifetime(lock) {}
            return result
        }
    }

    private func source(of wanted: WantedPath) throws -> RestoreSource {
        let source = try RestoreSource(wanted.snapshot, at: wanted.path, in: nodes)
        guard try source.entry() != nil else { throw noSuchPath(wanted.path, in: wanted.snapshot) }
        return source
    }

    private func noSuchPath(_ path: RelativePath, in snapshot: ListedSnapshot) -> ArchiverError {
        ArchiverError(
            .noSuchPath, "snapshot \(snapshot.id.short) holds nothing at '\(path)'",
            remedy: Advice.listEntries.text)
    }
}

extension Archive {
    /// The operations on a root in their order, whatever the clock said; those on several roots by time.
    ///
    /// - Parameter root: only operations on this root; nil for all.
    /// - Throws: `ArchiverError` if the archive cannot be read.
    public func operations(of root: ArchivedRoot? = nil) throws(ArchiverError) -> [LoggedOperation] {
        try facing {
            let number = try root.map { try self.number(of: $0) ?? -1 }
            let records = try store.catalogue.operations(root: number)
            let logs = Dictionary(grouping: records) { RootName(path: $0.record.rootPath, machine: $0.record.machine) }
                .values.map { OperationLog(replaying: $0).operations }
            if logs.count == 1 { return logs[0] }
            return logs.flatMap(\.self).sorted {
                ($0.record.time, $0.record.sequence, $0.id) < ($1.record.time, $1.record.sequence, $1.id)
            }
        }
    }

    /// Undoes the last operation on `root`: restores the state before it, in the part that it concerned.
    ///
    /// A second undo undoes the operation before. The present state is captured first, so nothing is lost, and
    /// `redo` restores it. Only what differs is written. If it is interrupted, the same call finishes it.
    ///
    /// - Parameters:
    ///   - root: a root on this machine; it is recreated if it does not exist.
    ///   - onAction: as for `restore`.
    /// - Returns: a result for each step.
    /// - Throws: `ArchiverError`, with the code `nothingToUndo` if `root` has fewer operations to undo than requested;
    ///   then nothing was changed. After any other error some steps may be done: `operations` lists them.
    public func undo(
        _ root: ArchivedRoot, _ options: ReversalOptions = ReversalOptions(), progress: OperationProgress? = nil,
        onAction: (@Sendable (RestoreAction) -> Void)? = nil
    ) throws(ArchiverError) -> [OperationResult] {
        try facing {
            try Reversing(self, root.path, .undo, progress, onAction).run(options)
        }
    }

    /// Undoes the last undo of `root`: restores the state before it.
    ///
    /// Otherwise works as `undo`. Any operation other than undo and redo ends what can be redone.
    ///
    /// - Throws: `ArchiverError`, with the code `nothingToRedo` if `root` has fewer undos to redo than requested.
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
