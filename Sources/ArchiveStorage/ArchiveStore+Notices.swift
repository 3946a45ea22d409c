// Notices of roots: entering and reading them.

package import ArchiveFormat

extension ArchiveStore {
    /// Enters `notice` into the archive: when this returns it is durable, where it throws it is not there.
    package func enter(_ notice: RootNotice) throws(StorageError) {
        let writer = try beginCommit()
        do throws(StorageError) {
            try writer.commit(StoredNotice(notice))
        } catch {
            writer.abandon()
            throw error
        }
    }

    /// The notice that the chunk `id` holds.
    package func notice(_ id: ChunkID) throws(StorageError) -> RootNotice {
        let bytes = try read(id)
        do throws(FormatError) {
            return try RootNotice(decoding: bytes)
        } catch {
            let failure: StorageError = try undecodable(id, error)
            throw failure
        }
    }
}
