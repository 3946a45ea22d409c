// Saved states of an archive: reading and forgetting them; `CommitWriter` saves them.

package import ArchiveFormat
internal import FileIO

extension ArchiveStore {
    /// What was recorded of the state `id`.
    package func stateRecord(_ id: StateID) throws(StorageError) -> StateRecord {
        let bytes = try read(id.chunk)
        do throws(FormatError) {
            return try StateRecord(decoding: bytes)
        } catch {
            let failure: StorageError = try undecodable(id.chunk, error)
            throw failure
        }
    }

    /// What the chunk `id` says is forgotten.
    package func forgotten(_ id: ChunkID) throws(StorageError) -> ForgottenRecords {
        let bytes = try read(id)
        do throws(FormatError) {
            return try ForgottenRecords(decoding: bytes)
        } catch {
            let failure: StorageError = try undecodable(id, error)
            throw failure
        }
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
