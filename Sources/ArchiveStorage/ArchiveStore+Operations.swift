// Operations on roots: entering and reading their records.

package import ArchiveFormat

extension ArchiveStore {
    /// Enters `record` into the archive: when this returns it is durable, where it throws it is not there.
    package func enter(_ record: OperationRecord) throws(StorageError) -> OperationID {
        let operation = StoredOperation(record)
        let writer = try beginCommit()
        do throws(StorageError) {
            try writer.commit(operation)
        } catch {
            writer.abandon()
            throw error
        }
        return operation.id
    }

    /// The operation that the chunk of `id` holds.
    package func operation(_ id: OperationID) throws(StorageError) -> OperationRecord {
        let bytes = try read(id.chunk)
        do throws(FormatError) {
            return try OperationRecord(decoding: bytes)
        } catch {
            let failure: StorageError = try undecodable(id.chunk, error)
            throw failure
        }
    }
}
