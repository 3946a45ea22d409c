// Asking the process that watches a root to look at once.

public import ArchiveStorage
internal import Capturing
internal import FileIO
public import Roots
public import SystemPackage
public import WatchControl

extension Archive {
    /// Has the process that watches `directory` look at everything; blocks until it has.
    ///
    /// - Throws: `ArchiverError` of the code `notWatched` where no process does.
    public func audit(_ directory: FilePath) throws(ArchiverError) -> AuditResult {
        try facing {
            let path = try RootDirectory.resolvedAsFarAsItExists(directory)
            // It takes as long as it takes; where the watcher ends, so does the connection.
            let response = try ControlClient.ask(.audit, about: path, in: store.layout, patience: nil)
            guard let result = response?.audit else {
                throw ArchiverError(
                    .notWatched, "\(path) is not being watched",
                    remedy: "'archiver watch \(path)' watches it, 'archiver capture \(path)' captures it now",
                    path: path)
            }
            return result
        }
    }

    /// Returns once everything that changed in a directory before the call is captured and durable.
    ///
    /// Its watcher is asked, which knows what has changed. Where nobody watches, or the watcher does not answer, all of the
    /// directory is compared with its latest snapshot.
    ///
    /// - Parameter patience: how long the watcher may take to answer.
    /// - Returns: the latest snapshot: what is in the directory, but for what could not be captured.
    public func sync(
        _ directory: FilePath, patience: Duration = .seconds(15), progress: OperationProgress? = nil
    ) throws(ArchiverError) -> ListedSnapshot {
        try facing {
            let root = try RootDirectory.resolvedAsFarAsItExists(directory)
            // Whatever keeps it from answering keeps nobody else from capturing.
            let response = try? ControlClient.ask(.sync, about: root, in: store.layout, patience: patience)
            if response?.isSynced == true,
                let latest = try store.catalogue.latestSnapshot(ofRoot: root.bytes, machine: Machine.id)
            {
                return latest
            }
            return try capture(root, progress: progress).latest
        }
    }
}
