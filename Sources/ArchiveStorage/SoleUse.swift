// An archive that one process has for itself.

internal import ArchiveFormat
package import SystemPackage

/// Keeps everybody else out of an archive as long as it lives.
package final class SoleUse {
    private let place: ArchivePlace
    private let manifest: ArchiveManifest
    private let lock: UseLock

    /// - Throws: `StorageError` of the code `inUse` where others use the archive.
    package init(of directory: FilePath) throws(StorageError) {
        place = ArchivePlace(of: directory)
        manifest = try place.open()
        lock = try UseLock.exclusive(place.layout)
    }

    /// Opens the archive.
    package func open() throws(StorageError) -> ArchiveStore {
        try ArchiveStore.open(place, manifest, lock, isNew: false).store
    }

    /// Closes the archive and opens it with a catalogue that holds what the segments hold, and no trace of anything else.
    ///
    /// - Parameter store: is not to be used any more.
    package func reopen(_ store: ArchiveStore) throws(StorageError) -> ArchiveStore {
        store.giveUpWriters()
        try store.catalogue.close()
        Catalogue.delete(at: place.layout.catalogue)
        return try open()
    }
}
