// Follows the new snapshots of a root, with the help of its watcher.

public import ArchiveFormat
public import ArchiveStorage
public import Archives
internal import FileIO
public import Roots
public import SystemPackage
internal import WatchControl

extension Archive {
    /// Calls `body` with each new snapshot of a watched directory, until `body` returns false or watching ends.
    ///
    /// `body` gets each snapshot as soon as it is durable. The watcher does not wait for it: a slow `body` gets the
    /// snapshots later, but all of them. Blocks; call it on a thread of your own.
    ///
    /// - Parameters:
    ///   - last: the last known snapshot, to continue after it; nil for new snapshots only.
    ///   - onBegin: called as soon as no later snapshot can be missed.
    /// - Throws: `ArchiverError`, with the code `notWatched` if no process watches the directory.
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
