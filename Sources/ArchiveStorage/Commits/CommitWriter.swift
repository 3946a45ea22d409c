// The commit protocol, in the only place that knows it: blocks, fdatasync, the record, fdatasync, the catalogue.

package import ArchiveFormat
internal import Synchronization
internal import Threading

/// The records that become known together: what some chunks of a segment mean.
package struct CommitRecords: Sendable {
    let records: [any ListedRecord]

    init(_ records: [any ListedRecord]) { self.records = records }

    /// Snapshots and how they differ from their parents, where that is known.
    package init(snapshots: [ListedSnapshot] = [], changes: [SnapshotID: [PathChange]] = [:]) {
        records = snapshots.map { NewSnapshot(record: $0, changes: changes[$0.id]) }
    }
}

/// Writes what one snapshot or one saved state needs, then itself; or other records.
///
/// Chunks may come from several threads.
///
/// Until `commit` has returned, the snapshot does not exist. A commit of many chunks is indexed in steps, so that what
/// must be remembered stays small and an interrupted commit need not begin anew; chunks of a snapshot that never came
/// to be do no harm.
package final class CommitWriter: Sendable {
    private struct State: ~Copyable {
        var writer: SegmentWriter
        var claims: ChunkClaims
        /// Blocks that were appended and are not in the catalogue yet.
        var blocks: [(location: BlockLocation, block: StoredBlock)] = []
        /// What is on its way into the catalogue.
        var step: IndexingStep?
        /// What stopped this commit: nothing may be appended behind it.
        var failure: StorageError?
        /// Keeps what this commit finds in the archive; nil once it has ended.
        var epoch: Epoch?
    }

    let store: ArchiveStore
    /// Proves chunks that the archive has; nil where it is believed.
    private let prover: BlockReader?
    /// Called now and then while a full segment is sealed.
    private let pause: @Sendable () -> Void
    private let state: Locked<State>
    private let appendedBytes = Atomic<UInt64>(0)

    /// After this many chunks, or when a segment is full, what was written is made durable and indexed: beside the
    /// further work, which waits where the step before is not done yet.
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

    /// Asks whether the chunk `id` must be stored.
    ///
    /// - Returns: true to exactly one caller, who then must append it; false where the archive has it or another
    ///   caller of this commit is about to append it.
    package func claim(_ id: ChunkID) throws(StorageError) -> Bool {
        // The catalogue is asked without the lock, and again where it was told of chunks meanwhile.
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
                if try store.catalogue.holds(id), prover.map({ (try? $0.read(id)) != nil }) ?? true { return false }
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
        let location = BlockLocation(segment: state.writer.record.number, offset: offset)
        state.blocks.append((location, StoredBlock(block.header)))
    }

    /// Makes what was appended durable while the commit goes on, so that its end takes less time.
    package func synchronize() throws(StorageError) {
        try locked { state throws(StorageError) in
            try self.finishStep(&state)
            if state.writer.length > state.writer.indexedLength { try state.writer.synchronize() }
        }
    }

    /// Appends `snapshot`, makes the commit durable and enters it into the catalogue.
    ///
    /// - Parameters:
    ///   - base: the parent snapshot, to be compressed against.
    ///   - changes: how the snapshot differs from its parent, for the index of paths; nil where nobody knows yet.
    package func commit(
        _ snapshot: Snapshot, base: BaseChunk?, changes: [PathChange]? = nil
    ) throws(StorageError) -> ListedSnapshot {
        let chunk = RawChunk(kind: .snapshot, bytes: snapshot.encoded())
        // What readers would refuse is not announced.
        do { _ = try Snapshot(decoding: chunk.bytes) } catch {
            throw StorageError(
                .system, store.layout.directory, "the snapshot cannot be stored: \(error)",
                remedy: "give fewer patterns, or a shorter label")
        }
        let block = try store.encode([chunk], bases: base.map { [$0] } ?? [])
        let record = ListedSnapshot(snapshot, id: SnapshotID(chunk.id), ownBytes: block.byteCount)
        try finish([block], CommitRecords([NewSnapshot(record: record, changes: changes)]))
        return record
    }

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

    /// Appends `gaps`, at least one, in one block where they fit, makes them durable and enters them into the catalogue.
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

    /// Appends the blocks that make the records true, and announces these.
    func finish(_ blocks: [EncodedBlock], _ records: CommitRecords) throws(StorageError) {
        try locked { state throws(StorageError) in
            for (index, block) in blocks.enumerated() {
                // What a record stands on is durable first: a power failure might keep the later write alone.
                if index == blocks.count - 1, state.writer.length > state.writer.indexedLength {
                    try state.writer.synchronize()
                }
                try CommitWriter.append(block, &state)
            }
            try self.index(&state, records)
            // The records are there now; a segment that cannot be sealed is left to the next writer.
            if state.writer.isFull { try? state.writer.seal(self.store.catalogue, pause: self.pause) }
        }
        release()
    }

    /// Makes what was appended durable and enters it, while the commit goes on.
    func indexSoFar() throws(StorageError) {
        try locked { state throws(StorageError) in try self.index(&state) }
    }

    /// Ends the commit without a snapshot and keeps its chunks.
    package func commitChunks() throws(StorageError) {
        try locked { state throws(StorageError) in try self.index(&state) }
        release()
    }

    /// Gives up: what was appended since the last step is taken back.
    package func abandon() {
        state.withLock { state in
            // Where even that fails, whole blocks stay behind as unused chunks.
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
            store.giveBack(state.writer)
            state.epoch = nil
        }
    }

    /// Has what was appended made durable and told to the catalogue while the commit goes on.
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

    /// Makes what was appended durable, then tells the catalogue.
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
