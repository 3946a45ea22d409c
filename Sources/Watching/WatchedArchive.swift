// The archive that a service captures into: the one that it began with, at the user's path.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Archives
internal import FileIO
internal import Roots
internal import Threading

/// An archive that may be removed, replaced, or lose its catalogue while it is in use.
///
/// A commit into a deleted file is lost when the process ends. So the archive is reopened when it is no longer the one
/// at its path, and commits to the old one do not count. Another archive at the path is never used: it may be on the
/// disk below the mount point of the first.
final class WatchedArchive: Sendable {
    /// One opening of the archive.
    struct Opened: Sendable {
        let archive: Archive
        /// The identity of its catalogue; opening an archive rebuilds a missing one.
        fileprivate let catalogue: FileIdentity?
        /// The number of the opening, from 0.
        let number: Int
        /// Whether it was lost and its files are closed, so that its disk can be unmounted.
        fileprivate var isClosed = false
    }

    private let state: Locked<Opened>

    init(_ archive: Archive) {
        archive.limitCaches()
        state = Locked(Opened(archive: archive, catalogue: archive.catalogueIdentity, number: 0))
    }

    /// The archive of the last opening.
    var latest: Archive { state.withLock { $0.archive } }

    /// Returns the archive at the path; reopens it if it has changed.
    ///
    /// - Throws: `ArchiverError` if there is none, or another one; none is created in its place, as its disk may
    ///   return.
    func current() throws -> Opened {
        try state.withLock { opened in
            if !opened.isClosed {
                if isInPlace(opened) { return opened }
                opened.archive.store.close()
                opened.isClosed = true
            }
            let archive = try opened.archive.reopened()
            archive.limitCaches()
            opened = Opened(
                archive: archive, catalogue: archive.catalogueIdentity, number: opened.number + 1)
            return opened
        }
    }

    /// Checks that commits to `opened` are in the archive at the path.
    func check(_ opened: Opened) throws {
        if isInPlace(opened) { return }
        let error = StorageError.replaced(opened.archive.directory)
        throw ArchiverError(
            .noArchive, error.message, remedy: "is its disk mounted? capturing resumes when it returns",
            path: error.path)
    }

    private func isInPlace(_ opened: Opened) -> Bool {
        opened.archive.catalogueIdentity == opened.catalogue
    }
}

extension Archive {
    /// Opens the archive at the path again.
    ///
    /// - Throws: `ArchiverError` with the code `noArchive` if there is none, or another one.
    func reopened() throws(ArchiverError) -> Archive {
        try facing {
            guard try ArchiveStore.id(at: directory) == id else {
                throw ArchiverError(
                    .noArchive, "another archive is at \(directory) now: nothing is captured into it",
                    remedy: "is the right disk mounted? to use that archive, stop the watcher and start it again",
                    path: directory)
            }
            return try Archive.open(directory)
        }
    }

    /// The identity of the catalogue file; nil if there is none.
    fileprivate var catalogueIdentity: FileIdentity? { FileIdentity(at: store.layout.catalogue) }
}
