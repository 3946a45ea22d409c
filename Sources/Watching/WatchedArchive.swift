// The archive that a service captures into: always the one at the user's path.

internal import ArchiveStorage
internal import Archives
internal import FileIO
internal import Roots
internal import Threading

/// An archive that may be removed, replaced, or lose its catalogue while it is in use.
///
/// A commit into a deleted file is lost when the process ends. So the archive is reopened when it is no longer the one
/// at its path, and commits to the old one do not count.
final class WatchedArchive: Sendable {
    /// One opening of the archive.
    struct Opened: Sendable {
        let archive: Archive
        /// The identity of its catalogue; opening an archive rebuilds a missing one.
        fileprivate let catalogue: FileIdentity?
        /// The number of the opening, from 0.
        let number: Int
    }

    private let state: Locked<Opened>

    init(_ archive: Archive) {
        state = Locked(Opened(archive: archive, catalogue: archive.catalogueIdentity, number: 0))
    }

    /// The archive of the last opening.
    var latest: Archive { state.withLock { $0.archive } }

    /// Returns the archive at the path; reopens it if it has changed.
    ///
    /// - Throws: `ArchiverError` if there is none; none is created in its place, as its disk may return.
    func current() throws -> Opened {
        try state.withLock { opened in
            if isInPlace(opened) { return opened }
            // A process that rebuilds the catalogue skips segments that are being written. So release them first.
            opened.archive.store.releaseWriters()
            let archive = try Archive.open(opened.archive.directory)
            opened = Opened(
                archive: archive, catalogue: archive.catalogueIdentity, number: opened.number + 1)
            return opened
        }
    }

    /// Checks that commits to `opened` are in the archive at the path.
    func check(_ opened: Opened) throws {
        if isInPlace(opened) { return }
        throw ArchiverError(
            .noArchive, "the archive \(opened.archive.directory) was removed or replaced while it was in use",
            remedy: "is its disk mounted? capturing resumes when it returns", path: opened.archive.directory)
    }

    private func isInPlace(_ opened: Opened) -> Bool {
        opened.archive.catalogueIdentity == opened.catalogue
    }
}

extension Archive {
    /// The identity of the catalogue file; nil if there is none.
    fileprivate var catalogueIdentity: FileIdentity? { FileIdentity(at: store.layout.catalogue) }
}
