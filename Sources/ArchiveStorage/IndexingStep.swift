// What a long commit has appended, made durable and entered into the catalogue while the commit goes on.

internal import ArchiveFormat
internal import Dispatch
internal import Threading

/// One step of a commit, on a thread of its own: whoever waits for the disk and the catalogue here holds up nobody.
final class IndexingStep: Sendable {
    /// The segment that the chunks are in.
    let writer: SegmentWriter
    /// How far that segment had been written.
    private let length: Int
    /// The chunks with their offsets; without one those that belong to a later step.
    private let chunks: [ChunkID: Int?]
    private let blocks: [(location: BlockLocation, block: StoredBlock)]

    private let isEnded = DispatchGroup()
    private let failure = Locked<StorageError?>(nil)

    /// Begins the step.
    ///
    /// - Parameters:
    ///   - isSealing: whether nothing more comes into the segment, which gets its footer then.
    ///   - pause: called now and then while that is made.
    init(
        _ catalogue: Catalogue, _ writer: SegmentWriter, chunks: [ChunkID: Int?],
        blocks: [(location: BlockLocation, block: StoredBlock)], isSealing: Bool, pause: @escaping @Sendable () -> Void
    ) {
        self.writer = writer
        self.chunks = chunks
        self.blocks = blocks
        length = writer.length
        // A serial queue gets a thread even while all of the concurrent queues' threads wait for this very step.
        DispatchQueue(label: "archiver.index", qos: .userInitiated).async(group: isEnded) { [self] in
            do throws(StorageError) {
                try writer.synchronize()
                try catalogue.enter(
                    segment: writer.record.number, length: length, chunks: IndexingStep.appended(chunks),
                    blocks: blocks)
                // Before anything else can fail: what the catalogue knows of must never be taken back.
                writer.markIndexed(length)
                if isSealing { try writer.seal(catalogue, pause: pause) }
            } catch {
                failure.withLock { $0 = error }
            }
        }
    }

    /// Whether `id` is among the chunks.
    func contains(_ id: ChunkID) -> Bool { chunks[id] != nil }

    /// Waits until the catalogue has the chunks.
    func finish() throws(StorageError) {
        isEnded.wait()
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// The chunks that have been appended, with their offsets.
    static func appended(_ chunks: [ChunkID: Int?]) -> [(id: ChunkID, offset: Int)] {
        var appended: [(id: ChunkID, offset: Int)] = []
        appended.reserveCapacity(chunks.count)
        for case (let id, let offset?) in chunks { appended.append((id, offset)) }
        return appended
    }
}
