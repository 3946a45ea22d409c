// An archive that only this process uses.

internal import ArchiveFormat
package import SystemPackage

/// Excludes all other users from an archive for as long as it lives.
package final class SoleUse {
    private let place: ArchivePlace
    private let manifest: ArchiveManifest
    private let lock: UseLock

    /// - Throws: `StorageError` with the code `inUse` if another process uses the archive.
    package init(of directory: FilePath) throws(StorageError) {
        place = ArchivePlace(of: directory)
        manifest = try place.open()
        if let refusal = place.refusal(manifest) { throw refusal }
        lock = try UseLock.exclusive(place.layout)
    }

    /// Opens the archive.
    package func open() throws(StorageError) -> ArchiveStore {
        try ArchiveStore.open(place, manifest, lock, isNew: false).store
    }

    /// Closes the archive and reopens it with a catalogue rebuilt from the segments, without traces of removed data.
    ///
    /// - Parameter store: must not be used afterwards.
    package func reopen(_ store: ArchiveStore) throws(StorageError) -> ArchiveStore {
        store.releaseWriters()
        store.catalogue.close()
        Catalogue.delete(at: place.layout.catalogue)
        return try open()
    }
}
