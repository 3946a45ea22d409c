// A note that somebody asks the watcher to write down.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Roots

extension WatchedRoot {
    /// Writes down `text` about a snapshot of the root.
    ///
    /// - Parameter snapshot: the snapshot's id in hex digits; nil for the latest, which holds what was captured until now.
    func note(_ text: String?, about snapshot: String?) async -> ControlResponse {
        guard let text else { return .notUnderstood }
        let (service, root) = (self.service, ArchivedRoot(here: path))
        do {
            let note = try await Blocking.run { () throws(ArchiverError) in
                try facing {
                    let archive = try service.archive.current().archive
                    let about =
                        try snapshot.map { try WatchedRoot.snapshot($0, of: root) }
                        ?? archive.latestSnapshot(of: root)?.id
                    return try archive.note(text, about: root, snapshot: about)
                }
            }
            return ControlResponse(note: note.id.hex)
        } catch {
            return ControlResponse(failure: WatcherStatus.Trouble(message: error.message, remedy: error.remedy))
        }
    }

    private static func snapshot(_ digits: String, of root: ArchivedRoot) throws(ArchiverError) -> SnapshotID {
        if let id = SnapshotID(hex: digits) { return id }
        throw ArchiverError(
            .noSuchSnapshot, "'\(digits.prefix(64))' is not the id of a snapshot", remedy: "give all 64 hex digits",
            path: root.path)
    }
}
