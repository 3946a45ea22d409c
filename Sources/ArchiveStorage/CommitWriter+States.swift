// Commits of saved states.

package import ArchiveFormat

extension CommitWriter {
    /// Appends a state's record, makes the commit durable and enters it into the catalogue.
    ///
    /// - Parameters:
    ///   - content: claimed chunks of the state that are few and small enough to share the record's block.
    ///   - bases: what the block is compressed against, the most alike last.
    package func commit(
        _ record: StateRecord, content: [RawChunk] = [], bases: [BaseChunk]
    ) throws(StorageError) -> ListedState {
        let chunk = RawChunk(kind: .state, bytes: record.encoded())
        let block = try store.encode(content + [chunk], bases: bases)
        let saved = ListedState(record, id: StateID(chunk.id), ownBytes: block.byteCount)
        try finish([block], CommitRecords([saved]))
        return saved
    }
}
