// Telling subscribers of snapshots.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Roots

extension WatchedRoot {
    /// Snapshots that are read at once.
    private static let step = 256

    /// Writes the root's snapshots to a subscriber until it is gone or the watching ends.
    ///
    /// - Parameter last: the id of the last snapshot that it knows, in hex digits; nil for those from now on.
    func stream(to connection: ControlServer.Connection, after last: String?) {
        guard let feed = feeds.add() else {
            return connection.respond(
                ControlResponse(
                    failure: WatcherStatus.Trouble(message: "too many have subscribed", remedy: "end some of them")))
        }
        defer { feeds.remove(feed) }
        do throws(ArchiverError) {
            try facing {
                let start = try start(after: last)
                try feed.run(on: connection, from: start) { try snapshots(behind: $0) }
            }
        } catch {
            connection.respond(
                ControlResponse(failure: WatcherStatus.Trouble(message: error.message, remedy: error.remedy)))
        }
    }

    private func start(after last: String?) throws -> ListedSnapshot? {
        let archive = service.archive.latest
        guard let last else {
            return try archive.store.catalogue.latestSnapshot(ofRoot: path.bytes, machine: Machine.id)
        }
        let id = SnapshotID(hex: last)
        let found = try id.map { try archive.store.catalogue.snapshots(.init(idPrefix: $0.hex, limit: 1)).first } ?? nil
        if let found, found.isOf(ArchivedRoot(here: path)) { return found }
        throw ArchiverError(
            .noSuchSnapshot, "the archive holds no snapshot \(last.prefix(64)) of \(path)",
            remedy: "subscribe without one, and list what there is", path: path)
    }

    private func snapshots(behind last: ListedSnapshot?) throws -> [ListedSnapshot] {
        let archive = service.archive.latest
        guard let number = try archive.number(of: ArchivedRoot(here: path)) else { return [] }
        var filter = Catalogue.SnapshotFilter(of: number, limit: WatchedRoot.step)
        filter.behind = last.map { .init(sequence: $0.sequence, time: $0.time, id: $0.id.chunk) }
        return try archive.store.catalogue.snapshots(filter)
    }
}
