// Follows the new snapshots of a root, with the help of its watcher.

public import ArchiveFormat
public import ArchiveStorage
public import Archives
internal import FileIO
public import Roots
public import SystemPackage
internal import Threading
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
        try follow(directory, after: last, onConnect: { _ in }, onBegin: onBegin, body)
    }

    /// The new snapshots of a watched directory, each as soon as it is durable, until watching ends.
    ///
    /// When this returns, no later snapshot can be missed. The watcher does not wait for the caller: a slow one gets the
    /// snapshots later, but all of them. The end of the iteration, by `break` or by the cancellation of its task, ends
    /// the connection to the watcher.
    ///
    /// - Parameter last: the last known snapshot, to continue after it; nil for new snapshots only.
    /// - Throws: `ArchiverError`, with the code `notWatched` if no process watches the directory. The iteration throws an
    ///   `ArchiverError` if the watcher does not answer any more.
    public func newSnapshots(
        of directory: FilePath, after last: SnapshotID? = nil
    ) async throws(ArchiverError) -> AsyncThrowingStream<ListedSnapshot, any Error> {
        let (snapshots, continuation) = AsyncThrowingStream.makeStream(of: ListedSnapshot.self)
        let beginning: Result<Void, ArchiverError> = await withCheckedContinuation { beginning in
            let answer = FirstAnswer(beginning)
            do throws(FileError) {
                try DetachedThread.start(for: "following snapshots") {
                    do throws(ArchiverError) {
                        try self.follow(
                            directory, after: last, onConnect: { end in continuation.onTermination = { _ in end() } },
                            onBegin: { answer.give(.success(())) }
                        ) { snapshot in
                            if case .terminated = continuation.yield(snapshot) { false } else { true }
                        }
                        continuation.finish()
                        answer.give(.failure(ControlClient.silence(directory)))
                    } catch {
                        continuation.finish(throwing: error)
                        answer.give(.failure(error))
                    }
                }
            } catch { answer.give(.failure(ArchiverError(error))) }
        }
        try beginning.get()
        return snapshots
    }

    private func follow(
        _ directory: FilePath, after last: SnapshotID?, onConnect: (@escaping @Sendable () -> Void) -> Void,
        onBegin: () -> Void, _ body: (ListedSnapshot) throws -> Bool
    ) throws(ArchiverError) {
        try facing {
            let root = try RootDirectory.resolvedAsFarAsItExists(directory)
            try ControlClient.follow(root, in: store.layout, after: last?.hex, onConnect: onConnect) { news in
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
