// What is said of snapshots and states after they were made: entering it.

package import ArchiveFormat
internal import FileIO

extension ArchiveStore {
    /// Enters a label: when this returns it is durable, where it throws it is not there.
    package func enter(_ label: LabelRecord) throws(StorageError) { try enter(plain: label) }

    /// Enters a pin or its end.
    package func enter(_ pin: PinRecord) throws(StorageError) { try enter(plain: pin) }

    /// Enters a note.
    package func enter(_ note: NoteRecord) throws(StorageError) -> ChunkID { try enter(plain: note) }

    /// Enters a policy.
    package func enter(_ policy: PolicyRecord) throws(StorageError) { try enter(plain: policy) }

    /// Forgets snapshots and states, as one commit: they are listed no more, and their bytes stay.
    package func forget(_ records: Set<ChunkID>, reason: ForgettingReason = .asked) throws(StorageError) {
        if records.isEmpty { return }
        var statements: [(record: ForgottenRecords, listed: any ListedRecord)] = []
        for record in ForgottenRecords.splitting(records, at: try timeAfter(records), reason: reason) {
            statements.append((record, record))
        }
        try enter(statements)
    }

    /// Lists forgotten snapshots and states again, as one commit; what cannot be read stays unlisted.
    package func unforget(_ records: Set<ChunkID>) throws(StorageError) {
        if records.isEmpty { return }
        var statements: [(record: UnforgottenRecords, listed: any ListedRecord)] = []
        for record in UnforgottenRecords.splitting(records, at: try timeAfter(records)) {
            statements.append((record, try listedAgain(record)))
        }
        try enter(statements)
    }

    /// Now, or a moment after what was said of these records before: the latest counts, also where the clock is set back.
    private func timeAfter(_ records: Set<ChunkID>) throws(StorageError) -> Timestamp {
        var time = Timestamp.now
        for id in records {
            if let earlier = try catalogue.timeOfForgetting(id) { time = max(time, earlier.advanced(byNanoseconds: 1)) }
        }
        return time
    }
}
