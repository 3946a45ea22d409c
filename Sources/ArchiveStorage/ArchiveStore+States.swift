// Saved states of an archive: reading and forgetting them; `CommitWriter` saves them.

package import ArchiveFormat
internal import FileIO

extension ArchiveStore {
    /// What was recorded of the state `id`.
    package func stateRecord(_ id: StateID) throws(StorageError) -> StateRecord {
        try record(id.chunk)
    }

    /// Forgets snapshots and states, as one commit: they are listed no more, and their bytes stay.
    package func forget(_ records: Set<ChunkID>) throws(StorageError) {
        if records.isEmpty { return }
        let writer = try beginCommit()
        do throws(StorageError) {
            try writer.commit(ForgottenRecords.splitting(records, at: .now))
        } catch {
            writer.abandon()
            throw error
        }
    }
}
