// A mark that somebody asks the watcher for.

internal import ArchiveFormat
internal import FileIO
internal import Roots

extension WatchedRoot {
    /// Captures what has changed until now, and marks that state.
    ///
    /// Whoever asked may have gone long before: the mark is made all the same.
    func mark(_ name: String?) async -> ControlResponse {
        guard let name else { return .notUnderstood }
        guard await isSettled(withLargeFiles: true) else {
            return ControlResponse(failure: WatcherStatus.Trouble(message: unsettled, remedy: "mark again later"))
        }
        let (archive, path, service) = (self.service.archive, self.path, self.service)
        do {
            let mark = try await Blocking.run { () throws(ArchiverError) in
                try facing {
                    try Mark(name, of: path, in: archive.current().archive) { service.mustStop }
                }
            }
            return ControlResponse(mark: mark.id.hex)
        } catch {
            return ControlResponse(failure: WatcherStatus.Trouble(message: error.message, remedy: error.remedy))
        }
    }

    private var unsettled: String {
        journal.phase == .watching
            ? "the last changes of \(path) are not captured yet" : "\(path) is still being read for the first time"
    }
}
