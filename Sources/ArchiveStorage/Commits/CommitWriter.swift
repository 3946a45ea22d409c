// The commit protocol, and its only implementation: blocks, fdatasync, the record, fdatasync, the catalogue.

package import ArchiveFormat
internal import FileIO
internal import Synchronization
internal import Threading

/// The records that a commit announces together.
package struct CommitRecords: Sendable {
    let records: [any ListedRecord]

    init(_ records: [any ListedRecord]) { self.records = records }

    /// Snapshots, with their changes from their parents if those are known.
    package init(snapshots: [ListedSnapshot] = [], changes: [SnapshotID: [PathChange]] = [:]) {
        records = snapshots.map { NewSnapshot(listed: $0, changes: changes[$0.id]) }
    }
}

/// Writes the chunks of one snapshot or saved state and then its record; or other records.
///
/// Chunks may come from several threads.
///
/// The snapshot does not exist until `commit` has returned. A commit of many chunks is indexed in steps: that limits
/// memory, and an interrupted commit does not have to start over. Chunks of an unfinished snapshot do no harm.
package final class CommitWriter: Sendable {
    private struct State: ~Copyable {
        var writer: SegmentWriter
        var claims: ChunkClaims
        /// Blocks that were appended but are not in the catalogue yet.
        var blocks: [(location: BlockLocation, block: StoredBlock)] = []
        /// The step that is being indexed.
        var step: IndexingStep?
        /// The error that stopped this commit: nothing may be appended after it.
        var failure: StorageError?
        /// Protects the chunks that this commit found in the archive; nil once it has ended.
        var epoch: Epoch?
    }

    let store: ArchiveStore
    /// Verifies chunks that the archive has; nil if the catalogue is trusted.
    private let prover: BlockReader?
    /// Called now and then while a full segment is sealed.
    private let pause: @Sendable () -> Void
    private let state: Locked<State>
    private let appendedBytes = Atomic<UInt64>(0)

    /// The number of chunks after which appended blocks are made durable and indexed; a full segment is indexed earlier.
    ///
    /// Such a step runs in parallel to the commit, which waits only if the previous step is still running.
    private static let stepChunks = 1 << 16

    init(
        _ store: ArchiveStore, writer: SegmentWriter, _ epoch: Epoch, isHealing: Bool,
        pause: @escaping @Sendable () -> Void
    ) throws(StorageError) {
        self.store = store
        self.pause = pause
        prover = isHealing ? store.newReader() : nil
        state = Locked(
            State(
                writer: writer, claims: ChunkClaims(isArchiveEmpty: try store.catalogue.isEmpty()), epoch: epoch))
    }

    /// Bytes appended so far.
    package var storedBytes: UInt64 { appendedBytes.load(ordering: .relaxed) }

    /// Whether the chunk `id` must be stored.
    ///
    /// - Parameter locally: whether it must be on the local disk, and not only in a replica.
    /// - Returns: true to exactly one caller, who must then append it; false if the archive has it or another caller of
    ///   this commit appends it.
    package func claim(_ id: ChunkID, locally: Bool = false) throws(StorageError) -> Bool {
        // The catalogue is asked without the lock, and asked again if it received chunks in the meantime.
        var stepsSeen: Int?
        while true {
            let answer = try state.withLock { state throws(StorageError) in
                let answer = state.claims.claim(id, besides: state.step, stepsSeen: stepsSeen)
                if case .unknown = answer, try state.claims.needsFilter(store.catalogue) {
                    try self.finishStep(&state)
                    try state.claims.makeFilter(store.catalogue)
                }
                return answer
            }
            switch answer {
            case .claimed: return true
            case .isOurs: return false
            case .unknown(let steps):
                let isHeld = try store.catalogue.holds(id)
                let isAway = isHeld && locally ? try store.catalogue.isAway(id) : false
                if isHeld, !isAway, prover.map({ (try? $0.read(id)) != nil }) ?? true { return false }
                stepsSeen = steps
            }
        }
    }

    /// Appends a block of claimed chunks.
    package func append(_ block: EncodedBlock) throws(StorageError) {
        try locked { state throws(StorageError) in
            try CommitWriter.append(block, &state)
            self.appendedBytes.add(UInt64(block.byteCount), ordering: .relaxed)
            if state.writer.isFull || state.claims.pending.count >= CommitWriter.stepChunks {
                try self.beginStep(&state)
            }
        }
    }

    private static func append(_ block: EncodedBlock, _ state: inout State) throws(StorageError) {
        let offset = try state.writer.append(block)
        state.claims.appended(block, at: offset)
        let location = BlockLocation(segment: state.writer.listed.number, offset: offset)
        state.blocks.append((location, StoredBlock(block.header)))
    }

    /// Makes the appended blocks durable while the commit continues, so that its end takes less time.
    package func synchronize() throws(StorageError) {
        try locked { state throws(StorageError) in
            try self.finishStep(&state)
            if state.writer.length > state.writer.indexedLength { try state.writer.synchronize() }
        }
    }

    /// Appends `snapshot`, makes the commit durable and enters it into the catalogue.
    ///
    /// - Parameters:
    ///   - base: the parent snapshot, to compress against.
    ///   - changes: the changes from its parent, for the index of paths; nil if they are not known yet.
    package func commit(
        _ snapshot: Snapshot, base: BaseChunk?, changes: [PathChange]? = nil
    ) throws(StorageError) -> ListedSnapshot {
        let chunk = RawChunk(kind: .snapshot, bytes: snapshot.encoded())
        // A snapshot that readers would reject is not stored.
        do { _ = try Snapshot(decoding: chunk.bytes) } catch {
            throw StorageError(
                .system, store.layout.directory, "the snapshot cannot be stored: \(error)",
                remedy: "use fewer patterns, or a shorter label")
        }
        let block = try store.encode([chunk], bases: base.map { [$0] } ?? [])
        let listed = ListedSnapshot(snapshot, id: SnapshotID(chunk.id), ownBytes: block.byteCount)
        try finish([block], CommitRecords([NewSnapshot(listed: listed, changes: changes)]))
        return listed
    }

    /// Appends `snapshot` and forgets `old` in one block: after a power failure, exactly one of them is listed.
    ///
    /// - Parameter bytes: its encoding, with the fields of later programs that the old one has.
    package func commit(
        _ snapshot: Snapshot, as bytes: [UInt8], replacing old: SnapshotID, base: BaseChunk?
    ) throws(StorageError) -> ListedSnapshot {
        let chunk = RawChunk(kind: .snapshot, bytes: bytes)
        return try commit(chunk, replacing: old.chunk, base: base) { ownBytes in
            let listed = ListedSnapshot(snapshot, id: SnapshotID(chunk.id), ownBytes: ownBytes)
            return (listed, NewSnapshot(listed: listed, changes: nil))
        }
    }

    /// Appends a state's record and forgets `old` in one block.
    package func commit(_ record: StateRecord, replacing old: StateID) throws(StorageError) -> ListedState {
        let bytes = try store.encoding(of: record, keepingUnknownOf: old.chunk)
        let chunk = RawChunk(kind: .state, bytes: bytes)
        return try commit(chunk, replacing: old.chunk, base: nil) { ownBytes in
            let saved = ListedState(record, id: StateID(chunk.id), ownBytes: ownBytes)
            return (saved, saved)
        }
    }

    private func commit<Listed>(
        _ chunk: RawChunk, replacing old: ChunkID, base: BaseChunk?,
        listed: (_ ownBytes: Int) -> (Listed, any ListedRecord)
    ) throws(StorageError) -> Listed {
        let forgotten = ForgottenRecords(
            time: .now, records: [old], reason: .purged,
            sequence: try store.catalogue.nextSequence(ofForgetting: [old]))
        let block = try store.encode(
            [chunk, RawChunk(kind: .forgotten, bytes: forgotten.encoded())], bases: base.map { [$0] } ?? [])
        let (result, record) = listed(block.byteCount)
        let found = FoundRecord(kind: chunk.kind, id: chunk.id, offset: 0, ownBytes: 0)
        let references = ListedReferences(record: chunk.id, targets: found.unknownReferences(in: chunk.bytes))
        try finish([block], CommitRecords([record, forgotten, references]))
        return result
    }

    /// Appends a state's record, makes the commit durable and enters it into the catalogue.
    ///
    /// - Parameters:
    ///   - content: claimed chunks of the state, few and small enough to share the record's block.
    ///   - bases: the chunks to compress the block against, the most similar last.
    package func commit(
        _ record: StateRecord, content: [RawChunk] = [], bases: [BaseChunk]
    ) throws(StorageError) -> ListedState {
        let chunk = RawChunk(kind: .state, bytes: record.encoded())
        let block = try store.encode(content + [chunk], bases: bases)
        let saved = ListedState(record, id: StateID(chunk.id), ownBytes: block.byteCount)
        try finish([block], CommitRecords([saved]))
        return saved
    }

    /// Appends `gaps`, at least one, in one block if they fit, makes them durable and enters them into the catalogue.
    func commit(_ gaps: [ListedGap]) throws(StorageError) {
        var blocks: [EncodedBlock] = []
        var chunks: [RawChunk] = []
        var bytes = 0
        for gap in gaps {
            let chunk = RawChunk(id: gap.id, kind: .gap, bytes: gap.record.encoded())
            if !chunks.isEmpty, bytes + chunk.bytes.count > BlockEncoder.packedBytes {
                blocks.append(try store.encode(chunks))
                (chunks, bytes) = ([], 0)
            }
            chunks.append(chunk)
            bytes += chunk.bytes.count
        }
        blocks.append(try store.encode(chunks))
        try finish(blocks, CommitRecords(gaps))
    }

    /// Appends the last blocks of the commit, which hold `records`, and announces the records.
    func finish(_ blocks: [EncodedBlock], _ records: CommitRecords) throws(StorageError) {
        try locked { state throws(StorageError) in
            for (index, block) in blocks.enumerated() {
                // Earlier blocks become durable before the last: a power failure might keep only the later write.
                if index == blocks.count - 1, state.writer.length > state.writer.indexedLength {
                    try state.writer.synchronize()
                }
                try CommitWriter.append(block, &state)
            }
            try self.index(&state, records)
            // The records are stored now. A segment that cannot be sealed is left to the next writer.
            if state.writer.isLargeEnough { try? state.writer.seal(self.store.catalogue, pause: self.pause) }
        }
        release()
    }

    /// Makes the appended blocks durable and indexes them, while the commit continues.
    func indexSoFar() throws(StorageError) {
        try locked { state throws(StorageError) in try self.index(&state) }
    }

    /// Ends the commit without a snapshot; its chunks stay.
    package func commitChunks() throws(StorageError) {
        try locked { state throws(StorageError) in try self.index(&state) }
        release()
    }

    /// Gives up and rolls back what was appended since the last step.
    package func abandon() {
        state.withLock { state in
            // If even that fails, complete blocks stay behind as unused chunks.
            if let step = state.step {
                try? step.finish()
                if step.writer !== state.writer { try? step.writer.rollBack(store.catalogue) }
            }
            try? state.writer.rollBack(store.catalogue)
        }
        release()
    }

    private func release() {
        state.withLock { state in
            store.release(state.writer)
            state.epoch = nil
        }
    }

    /// Begins to make the appended blocks durable and index them, while the commit continues.
    private func beginStep(_ state: inout State) throws(StorageError) {
        try finishStep(&state)
        let writer = state.writer
        if writer.isFull { state.writer = try store.createSegment() }
        state.step = IndexingStep(
            CommitWriter.appended(state, to: writer), in: store.catalogue, isSealing: writer.isFull, pause: pause)
        CommitWriter.forgetAppended(&state)
    }

    private static func appended(_ state: borrowing State, to writer: SegmentWriter) -> AppendedBlocks {
        AppendedBlocks(writer: writer, length: writer.length, chunks: state.claims.pending, blocks: state.blocks)
    }

    private static func forgetAppended(_ state: inout State) {
        state.claims.forgetAppended()
        state.blocks = []
    }

    private func finishStep(_ state: inout State) throws(StorageError) {
        guard let step = state.step else { return }
        try step.finish()
        state.step = nil
        state.claims.catalogueGrew()
    }

    /// Makes the appended blocks durable, then enters them into the catalogue.
    private func index(_ state: inout State, _ records: CommitRecords = CommitRecords()) throws(StorageError) {
        try finishStep(&state)
        try CommitWriter.appended(state, to: state.writer).index(in: store.catalogue, records)
        state.claims.catalogueGrew()
        CommitWriter.forgetAppended(&state)
    }

    private func locked(_ body: (inout State) throws(StorageError) -> Void) throws(StorageError) {
        try state.withLock { state throws(StorageError) in
            if let failure = state.failure { throw failure }
            do throws(StorageError) { try body(&state) } catch {
                state.failure = error
                throw error
            }
        }
    }
}
