// Capturing and restoring from async code: nothing blocks the caller's thread.

public import ArchiveStorage
public import Capturing
public import Restoring
public import Roots
public import SystemPackage

extension Archive {
    /// Captures the directory `root` if it differs from its latest snapshot, or if `options` give it another label.
    ///
    /// The work runs on threads of the library. If the task is cancelled while it waits for one, nothing is done. Work
    /// that has begun is done to its end.
    ///
    /// - Parameter progress: counters that are updated while the capture runs.
    /// - Throws: `ArchiverError`: `noSuchDirectory`, `unsuitableRoot`, `locked` if a watcher captures it, `noSpace`,
    ///   `cancelled`…
    @discardableResult
    public func capture(
        _ root: FilePath, _ options: CaptureOptions = CaptureOptions(), progress: OperationProgress? = nil
    ) async throws(ArchiverError) -> CaptureResult {
        try await Blocking.run(orThrow: ArchiverError(.cancelled, "capturing \(root) was cancelled before it began")) {
            () throws(ArchiverError) in
            try self.capture(root, options, progress: progress)
        }
    }

    /// Restores a snapshot, or a path in it, in place or into another directory.
    ///
    /// The work runs on threads of the library. If the task is cancelled while it waits for one, nothing is done. Work
    /// that has begun is done to its end.
    ///
    /// - Parameters:
    ///   - progress: counters that are updated while the restore runs.
    ///   - onAction: called with each action before it is applied, on a thread of the library.
    /// - Throws: `ArchiverError`: `otherRoot`, `noSuchPath`, `targetNotEmpty`, `noSpace`, `cancelled`…
    public func restore(
        _ snapshot: ListedSnapshot, _ options: RestoreOptions = RestoreOptions(), progress: OperationProgress? = nil,
        onAction: (@Sendable (RestoreAction) -> Void)? = nil
    ) async throws(ArchiverError) -> RestoreResult {
        try await Blocking.run(orThrow: Archive.cancelledRestore) { () throws(ArchiverError) in
            try self.restore(snapshot, options, progress: progress, onAction: onAction)
        }
    }

    /// Restores paths of one root in place, each from a snapshot of that root, as one operation.
    ///
    /// The work runs on threads of the library. If the task is cancelled while it waits for one, nothing is done. Work
    /// that has begun is done to its end.
    ///
    /// - Parameters:
    ///   - wanted: at least one path.
    ///   - options: as for a restore of one path; its path and target are not used.
    ///   - progress: counters that are updated while the restore runs.
    ///   - onAction: called with each action before it is applied, on a thread of the library.
    /// - Throws: `ArchiverError`: `noSuchPath` if a snapshot does not have its path; then nothing is changed…
    public func restore(
        _ wanted: [WantedPath], _ options: RestoreOptions = RestoreOptions(), progress: OperationProgress? = nil,
        onAction: (@Sendable (RestoreAction) -> Void)? = nil
    ) async throws(ArchiverError) -> RestoreResult {
        try await Blocking.run(orThrow: Archive.cancelledRestore) { () throws(ArchiverError) in
            try self.restore(wanted, options, progress: progress, onAction: onAction)
        }
    }

    private static var cancelledRestore: ArchiverError {
        ArchiverError(.cancelled, "the restore was cancelled before it began")
    }
}
