// Capturing and restoring from async code: nothing blocks the caller's thread.

public import ArchiveStorage
public import Capturing
public import Restoring
public import Roots
public import SystemPackage

extension Archive {
    /// Captures the directory `root` if it differs from its latest snapshot, or if `options` give it another label.
    ///
    /// The work runs on threads of the library. It is done to its end even if the task is cancelled.
    ///
    /// - Parameter progress: counters that are updated while the capture runs.
    /// - Throws: `ArchiverError`: `noSuchDirectory`, `unsuitableRoot`, `locked` if a watcher captures it, `noSpace`…
    @discardableResult
    public func capture(
        _ root: FilePath, _ options: CaptureOptions = CaptureOptions(), progress: OperationProgress? = nil
    ) async throws(ArchiverError) -> CaptureResult {
        try await Blocking.run { () throws(ArchiverError) in
            try self.capture(root, options, progress: progress)
        }
    }

    /// Restores a snapshot, or a path in it, in place or into another directory.
    ///
    /// The work runs on threads of the library. It is done to its end even if the task is cancelled.
    ///
    /// - Parameters:
    ///   - progress: counters that are updated while the restore runs.
    ///   - onAction: called with each action before it is applied, on a thread of the library.
    /// - Throws: `ArchiverError`: `otherRoot`, `noSuchPath`, `targetNotEmpty`, `noSpace`…
    public func restore(
        _ snapshot: ListedSnapshot, _ options: RestoreOptions = RestoreOptions(), progress: OperationProgress? = nil,
        onAction: (@Sendable (RestoreAction) -> Void)? = nil
    ) async throws(ArchiverError) -> RestoreResult {
        try await Blocking.run { () throws(ArchiverError) in
            try self.restore(snapshot, options, progress: progress, onAction: onAction)
        }
    }
}
