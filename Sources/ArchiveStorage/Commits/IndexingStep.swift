// Makes appended blocks durable and indexes them: at the end of a commit, and in steps during a long one.

internal import ArchiveFormat
internal import Dispatch
internal import Threading

/// Blocks that were appended to a segment but are not in the catalogue yet.
struct AppendedBlocks: Sendable {
    /// The segment that the blocks are in.
    let writer: SegmentWriter
    /// The segment's length in bytes after the last of them.
    let length: Int
    /// The chunks with their offsets; those without one belong to a later step.
    let chunks: [ChunkID: Int?]
    let blocks: [(location: BlockLocation, block: StoredBlock)]

    /// Makes the blocks durable, then enters them and `records` into the catalogue.
    func index(in catalogue: Catalogue, _ records: CommitRecords = CommitRecords()) throws(StorageError) {
        try writer.synchronize()
        let segment = writer.listed.number
        var found: [(id: ChunkID, location: BlockLocation)] = []
        found.reserveCapacity(chunks.count)
        for case (let id, let offset?) in chunks {
            found.append((id, BlockLocation(segment: segment, offset: offset)))
        }
        try catalogue.enter(
            segment: segment, length: length, chunks: consume found, blocks: blocks, records: records)
        // Before anything else can fail: blocks in the catalogue must never be rolled back.
        writer.markIndexed(length)
    }
}

/// One step of a long commit, on its own thread: the commit continues while the step waits for disk and catalogue.
final class IndexingStep: Sendable {
    private let appended: AppendedBlocks
    private let isEnded = DispatchGroup()
    private let failure = Locked<StorageError?>(nil)

    /// The writer of the step's segment.
    var writer: SegmentWriter { appended.writer }

    /// Begins the step.
    ///
    /// - Parameters:
    ///   - isSealing: whether the segment is complete and gets its footer.
    ///   - pause: called now and then while the footer is made.
    init(
        _ appended: AppendedBlocks, in catalogue: Catalogue, isSealing: Bool, pause: @escaping @Sendable () -> Void
    ) {
        self.appended = appended
        // A serial queue gets a thread even while all threads of the concurrent queues wait for this step.
        DispatchQueue(label: "archiver.index", qos: .default).async(group: isEnded) { [self] in
            do throws(StorageError) {
                try appended.index(in: catalogue)
                if isSealing { try appended.writer.seal(catalogue, pause: pause) }
            } catch {
                failure.withLock { $0 = error }
            }
        }
    }

    /// Whether `id` is one of the chunks.
    func contains(_ id: ChunkID) -> Bool { appended.chunks[id] != nil }

    /// Waits until the catalogue has the chunks.
    func finish() throws(StorageError) {
        isEnded.wait()
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
