// Which records can have no effect any more: a reclaimer does not copy them, so that an archive does not grow with them.

internal import ArchiveFormat

/// Decides which records a reclaimer leaves out.
struct RecordEffects {
    private let store: ArchiveStore
    /// Whether every segment is there: what a missing one holds may come back, and statements about it count again.
    private let isComplete: Bool
    /// Snapshots that operations refer to: that they were forgotten says that they are not lost.
    private let ofOperations: Set<ChunkID>

    init(_ store: ArchiveStore) throws(StorageError) {
        self.store = store
        let present = Set(try store.catalogue.segments().compactMap(\.name))
        isComplete = try store.catalogue.namedSegments().keys.allSatisfy(present.contains)
        var ofOperations: Set<ChunkID> = []
        for operation in try store.catalogue.operations() {
            for snapshot in [operation.record.before, operation.record.snapshot] {
                if let snapshot { ofOperations.insert(snapshot.chunk) }
            }
        }
        self.ofOperations = ofOperations
    }

    /// Whether the record in the chunk `id` can have no effect, whatever else is found.
    func isVain(_ id: ChunkID, _ kind: ChunkKind) throws(StorageError) -> Bool {
        guard isComplete else { return false }
        switch kind {
        case .label:
            guard let target = plain(id, LabelRecord.self)?.target else { return false }
            if try isGone(target) { return true }
            return try store.catalogue.labelRecord(of: target) != id
        case .pin:
            guard let target = plain(id, PinRecord.self)?.target else { return false }
            if try isGone(target) { return true }
            return try store.catalogue.pinRecord(of: target) != id
        case .forgotten: return try areGone(plain(id, ForgottenRecords.self)?.records)
        case .unforgotten: return try areGone(plain(id, UnforgottenRecords.self)?.records)
        case .deletion: return try areGone(plain(id, DeletionRecord.self)?.snapshots)
        default: return false
        }
    }

    /// The record, if it can be read and has no fields of later programs.
    private func plain<Record: ArchiveRecord>(_ id: ChunkID, _ type: Record.Type) -> Record? {
        guard let bytes = try? store.read(id), let record = try? Record(decoding: bytes), record.encoded() == bytes
        else { return nil }
        return record
    }

    private func isGone(_ target: ChunkID) throws(StorageError) -> Bool {
        try store.catalogue.location(of: target) == nil
    }

    private func areGone(_ targets: [ChunkID]?) throws(StorageError) -> Bool {
        guard let targets else { return false }
        for target in targets {
            if ofOperations.contains(target) { return false }
            if try !isGone(target) { return false }
        }
        return true
    }
}
