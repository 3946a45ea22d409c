// Snapshots as they come, from whoever watches a root.

public import ArchiveFormat
public import ArchiveStorage
public import Archives
internal import FileIO
public import Roots
public import SystemPackage
internal import WatchControl

extension Archive {
    /// Calls `body` with each new snapshot of a watched directory as soon as it is durable, until `body` returns false or the
    /// watching ends.
    ///
    /// The watcher is told nothing about how fast `body` is and waits for nobody: who is slow gets the snapshots later, and
    /// none is left out. Blocks; call it on a thread of your own.
    ///
    /// - Parameters:
    ///   - last: the last snapshot that is known already, to go on behind it; nil for those from now on.
    ///   - onBegin: called once no further snapshot can be missed.
    /// - Throws: `ArchiverError`, with the code `notWatched` where nobody watches the directory.
    public func followSnapshots(
        of directory: FilePath, after last: SnapshotID? = nil, onBegin: () -> Void = {},
        _ body: (ListedSnapshot) throws -> Bool
    ) throws(ArchiverError) {
        try facing {
            let root = try RootDirectory.resolvedAsFarAsItExists(directory)
            try ControlClient.follow(root, in: store.layout, after: last?.hex) { news in
                switch news.event {
                case .subscribed: onBegin()
                case .stopped: return false
                case .snapshot:
                    let found = try news.id.map { try store.catalogue.snapshots(.init(idPrefix: $0, limit: 1)).first }
                    if let snapshot = found ?? nil { return try body(snapshot) }
                }
                return true
            }
        }
    }
}
