// Restoring: in place, with the state before captured first, or into another directory.

internal import ArchiveFormat
public import ArchiveStorage
internal import FileIO
public import Restoring
public import Roots
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
                return try options.isDryRun ? restore.tell() : restore.run()
            }
            let place = try place(of: snapshot, named: options.root)
            let restore = RestoreInPlace(
                source, rootPath: place, interruption: options.interruption,
                progress: progress, onAction: onAction)
            if options.isDryRun { return try restore.tell() }
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
