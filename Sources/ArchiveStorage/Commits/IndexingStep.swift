// What a commit has appended becomes durable and known: at its end, and on the way of a long one.

internal import ArchiveFormat
internal import Dispatch
internal import Threading

/// What was appended to a segment and the catalogue does not know yet.
struct AppendedBlocks: Sendable {
    /// The segment that the blocks are in.
    let writer: SegmentWriter
    /// How far that segment has been written.
    let length: Int
    /// The chunks with their offsets; without one those that belong to a later step.
    let chunks: [ChunkID: Int?]
    let blocks: [(location: BlockLocation, block: StoredBlock)]

    /// Makes it durable, then has the catalogue know of it, and of `records` that it makes true.
    func index(in catalogue: Catalogue, _ records: CommitRecords = CommitRecords()) throws(StorageError) {
        try writer.synchronize()
        var places: [(id: ChunkID, offset: Int)] = []
        places.reserveCapacity(chunks.count)
        for case (let id, let offset?) in chunks { places.append((id, offset)) }
        try catalogue.enter(
            segment: writer.record.number, length: length, chunks: places, blocks: blocks, records: records)
        // Before anything else can fail: what the catalogue knows of must never be taken back.
        writer.markIndexed(length)
    }
}

/// One step of a long commit, on a thread of its own: whoever waits for the disk and the catalogue here holds up nobody.
final class IndexingStep: Sendable {
    private let appended: AppendedBlocks
    private let isEnded = DispatchGroup()
    private let failure = Locked<StorageError?>(nil)

    /// The segment that the step is about.
    var writer: SegmentWriter { appended.writer }

    /// Begins the step.
    ///
    /// - Parameters:
    ///   - isSealing: whether nothing more comes into the segment, which gets its footer then.
    ///   - pause: called now and then while that is made.
    init(
        _ appended: AppendedBlocks, in catalogue: Catalogue, isSealing: Bool, pause: @escaping @Sendable () -> Void
    ) {
        self.appended = appended
        // A serial queue gets a thread even while all of the concurrent queues' threads wait for this very step.
        DispatchQueue(label: "archiver.index", qos: .userInitiated).async(group: isEnded) { [self] in
            do throws(StorageError) {
                try appended.index(in: catalogue)
                if isSealing { try appended.writer.seal(catalogue, pause: pause) }
            } catch {
                failure.withLock { $0 = error }
            }
        }
    }

    /// Whether `id` is among the chunks.
    func contains(_ id: ChunkID) -> Bool { appended.chunks[id] != nil }

    /// Waits until the catalogue has the chunks.
    func finish() throws(StorageError) {
        isEnded.wait()
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
