// Asks the watcher of a root to audit or capture it now.

public import ArchiveStorage
internal import Capturing
public import Exclusions
internal import FileIO
public import Roots
public import SystemPackage
public import WatchControl

extension Archive {
    /// Makes the watcher of `directory` compare everything with the latest snapshot; blocks until it has.
    ///
    /// - Throws: `ArchiverError` with the code `notWatched` if no process watches it.
    public func audit(_ directory: FilePath) throws(ArchiverError) -> AuditResult {
        try facing {
            let path = try RootDirectory.resolvedAsFarAsItExists(directory)
            // No timeout: an audit takes as long as the root needs, and the connection ends when the watcher does.
            let response = try ControlClient.ask(.audit, about: path, in: store.layout, patience: nil)
            guard let result = response?.audit else {
                throw ArchiverError(
                    .notWatched, "\(path) is not being watched",
                    remedy: Advice.watchOrCapture.text,
                    path: path)
            }
            return result
        }
    }

    /// Returns once every change made in a directory before the call is captured and durable.
    ///
    /// Asks the watcher, which knows what has changed. If there is no watcher or it does not answer, the whole
    /// directory is compared with its latest snapshot.
    ///
    /// - Parameters:
    ///   - patience: how long the watcher may take to answer.
    ///   - newRootExclusions: the exclusions of a directory that has no snapshot yet.
    ///   - progress: counters that are updated while this process captures.
    /// - Returns: the latest snapshot; it lacks only entries that could not be captured.
    /// - Throws: `ArchiverError`: `noSuchDirectory`, `locked` if a watcher does not answer but captures it, `noSpace`…
    public func sync(
        _ directory: FilePath, patience: Duration = .seconds(15),
        newRootExclusions: ExclusionRules = ExclusionRules(), progress: OperationProgress? = nil
    ) throws(ArchiverError) -> ListedSnapshot {
        try facing {
            let root = try RootDirectory.resolvedAsFarAsItExists(directory)
            // If the watcher cannot answer, this process captures instead.
            let response = try? ControlClient.ask(.sync, about: root, in: store.layout, patience: patience)
            if response?.isSynced == true,
                let latest = try store.catalogue.latestSnapshot(ofRoot: root.bytes, machine: Machine.id)
            {
                return latest
            }
            var options = CaptureOptions()
            options.newRootExclusions = newRootExclusions
            return try capture(root, options, progress: progress).latest
        }
    }
}
