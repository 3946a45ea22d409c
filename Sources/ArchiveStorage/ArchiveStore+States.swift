// Saved states of an archive: reading them; `CommitWriter` saves them.

package import ArchiveFormat

extension ArchiveStore {
    /// What was recorded of the state `id`.
    package func stateRecord(_ id: StateID) throws(StorageError) -> StateRecord {
        try record(id.chunk)
    }
}
