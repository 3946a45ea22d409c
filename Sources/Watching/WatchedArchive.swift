// The archive that a service captures into: always the one at the path that the user named.

internal import ArchiveStorage
internal import Archives
internal import FileIO
internal import Roots
internal import Threading

/// An archive that may be removed, replaced, or lose its catalogue while it is used.
///
/// What is committed into files that have lost their names is lost with the process. So the archive is opened anew where
/// it is not the one at its path, and what was committed into another one does not count.
final class WatchedArchive: Sendable {
    /// An archive as it was opened.
    struct Opened: Sendable {
        let archive: Archive
        /// Its catalogue, which one who opens the archive makes anew where it is missing.
        fileprivate let catalogue: FileIdentity?
        /// Counts how often it was opened.
        let number: Int
    }

    private let state: Locked<Opened>

    init(_ archive: Archive) {
        state = Locked(Opened(archive: archive, catalogue: archive.catalogueIdentity, number: 0))
    }

    /// The archive as it was opened last.
    var latest: Archive { state.withLock { $0.archive } }

    /// The archive at the path.
    ///
    /// - Throws: `ArchiverError` where there is none; none is made in its place, because its disk may come back.
    func current() throws -> Opened {
        try state.withLock { opened in
            if isInPlace(opened) { return opened }
            // Whoever makes the catalogue anew leaves segments alone that somebody writes to.
            opened.archive.store.giveUpWriters()
            let archive = try Archive.open(opened.archive.directory)
            opened = Opened(
                archive: archive, catalogue: archive.catalogueIdentity, number: opened.number + 1)
            return opened
        }
    }

    /// Makes sure that what was committed into `opened` is in the archive at the path.
    func check(_ opened: Opened) throws {
        if isInPlace(opened) { return }
        throw ArchiverError(
            .noArchive, "the archive \(opened.archive.directory) was removed or replaced while it was in use",
            remedy: "is its disk mounted? capturing goes on when it is back", path: opened.archive.directory)
    }

    private func isInPlace(_ opened: Opened) -> Bool {
        opened.archive.catalogueIdentity == opened.catalogue
    }
}

extension Archive {
    /// Which file the catalogue is; nil where there is none.
    fileprivate var catalogueIdentity: FileIdentity? { FileIdentity(at: store.layout.catalogue) }
}
