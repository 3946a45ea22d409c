// Everything until now in the archive: by the watcher, which knows where to look, or by a capture.

public import ArchiveStorage
internal import Capturing
internal import FileIO
public import Roots
public import SystemPackage

extension Archive {
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
