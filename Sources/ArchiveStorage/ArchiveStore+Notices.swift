// Notices of roots: entering them.

package import ArchiveFormat

extension ArchiveStore {
    /// Enters `notice` into the archive: when this returns it is durable, where it throws it is not there.
    package func enter(_ notice: RootNotice) throws(StorageError) {
        try enter(notice, listed: StoredNotice(notice))
    }
}
