// Operations on roots: entering their records.

package import ArchiveFormat

extension ArchiveStore {
    /// Enters `record` into the archive: when this returns it is durable, where it throws it is not there.
    package func enter(_ record: OperationRecord) throws(StorageError) -> OperationID {
        let operation = StoredOperation(record)
        try enter(record, listed: operation)
        return operation.id
    }
}
