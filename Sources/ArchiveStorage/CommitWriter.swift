// The commit protocol, in the only place that knows it: blocks, fdatasync, the record, fdatasync, the catalogue.

package import ArchiveFormat
internal import Synchronization
internal import Threading

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
        /// Chunks that are not in the catalogue yet; no offset where their block is still being made.
        var pending: [ChunkID: Int?] = [:]
        /// Blocks that were appended and are not in the catalogue yet.
        var blocks: [(location: BlockLocation, block: StoredBlock)] = []
        /// Chunks that are on their way into the catalogue.
        var step: IndexingStep?
        /// All that the catalogue knew when it was made, and what was claimed since; nil while it is not worth making.
        var known: ChunkFilter?
        /// How often the catalogue was asked for a chunk, and after how many times a filter is worth making.
        var lookups = 0
        var lookupsLimit = CommitWriter.leastLookups
        /// How often the catalogue came to have chunks that were asked of `pending` and `step` until then.
        var steps = 0
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

    /// A filter is made after so many lookups, or a fraction of the chunks that it has to hold: then reading them all
    /// costs no more than the lookups did.
    private static let leastLookups = 1 << 12
    private static let chunksPerLookup = 16

    init(
        _ store: ArchiveStore, writer: SegmentWriter, _ epoch: Epoch, isHealing: Bool,
        pause: @escaping @Sendable () -> Void
    ) throws(StorageError) {
        self.store = store
        self.pause = pause
        prover = isHealing ? store.newReader() : nil
        state = Locked(
            State(writer: writer, known: try store.catalogue.isEmpty() ? ChunkFilter() : nil, epoch: epoch))
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
            let (isClaimed, steps): (Bool?, Int) = try state.withLock { state throws(StorageError) in
                if state.pending[id] != nil || state.step?.contains(id) ?? false { return (false, state.steps) }
                let isNew = state.steps == stepsSeen || state.known.map { !$0.mayContain(id) } ?? false
                guard isNew else {
                    try self.count(&state)
                    return (nil, state.steps)
                }
                state.pending[id] = .some(nil)
                state.known?.insert(id)
                return (true, state.steps)
            }
            if let isClaimed { return isClaimed }
            if try store.catalogue.holds(id), prover.map({ (try? $0.read(id)) != nil }) ?? true { return false }
            stepsSeen = steps
        }
    }

    /// Counts a lookup, and makes the filter once there were many.
    private func count(_ state: inout State) throws(StorageError) {
        state.lookups += 1
        guard state.known == nil, state.lookups >= state.lookupsLimit else { return }
        state.lookupsLimit = max(state.lookupsLimit, try store.catalogue.chunkCount() / CommitWriter.chunksPerLookup)
        guard state.lookups >= state.lookupsLimit else { return }
        try finishStep(&state)
        var known = ChunkFilter()
        for id in state.pending.keys { known.insert(id) }
        try store.catalogue.forEachChunk { id, _ in
            known.insert(id)
            return true
        }
        state.known = known
    }

    /// Appends a block of claimed chunks.
    package func append(_ block: EncodedBlock) throws(StorageError) {
        try locked { state throws(StorageError) in
            try CommitWriter.append(block, &state)
            self.appendedBytes.add(UInt64(block.byteCount), ordering: .relaxed)
            if state.writer.isFull || state.pending.count >= CommitWriter.stepChunks { try self.beginStep(&state) }
        }
    }

    private static func append(_ block: EncodedBlock, _ state: inout State) throws(StorageError) {
        let offset = try state.writer.append(block)
        for chunk in block.header.chunks { state.pending[chunk.id] = .some(offset) }
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
    func keepSoFar() throws(StorageError) {
        try locked { state throws(StorageError) in try self.index(&state) }
    }

    /// Ends the commit without a snapshot and keeps its chunks.
    package func keep() throws(StorageError) {
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
            store.catalogue, writer, chunks: state.pending, blocks: state.blocks, isSealing: writer.isFull,
            pause: pause)
        state.pending = state.pending.filter { $0.value == nil }
        state.blocks = []
    }

    private func finishStep(_ state: inout State) throws(StorageError) {
        guard let step = state.step else { return }
        try step.finish()
        state.step = nil
        state.steps += 1
    }

    /// Makes what was appended durable, then tells the catalogue.
    private func index(_ state: inout State, _ records: CommitRecords = CommitRecords()) throws(StorageError) {
        try finishStep(&state)
        try state.writer.synchronize()
        try store.catalogue.enter(
            segment: state.writer.record.number, length: state.writer.length,
            chunks: IndexingStep.appended(state.pending), blocks: state.blocks, records: records)
        state.writer.markIndexed(state.writer.length)
        state.steps += 1
        state.pending = state.pending.filter { $0.value == nil }
        state.blocks = []
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
