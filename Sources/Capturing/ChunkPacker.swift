// Turns bytes into stored chunks: deduplicates them, packs small ones together, and compresses changed ones against
// their old versions.

package import ArchiveFormat
package import ArchiveStorage
internal import SnapshotTree

/// Stores chunks through a commit; without a commit, it only computes their ids.
///
/// Used by one thread at a time.
package final class ChunkPacker {
    private let store: ArchiveStore
    private let appender: BlockAppender?
    private var packed: [RawChunk] = []
    private var packedBytes = 0
    /// Blocks that other threads append.
    private let elsewhere = BlockBatch()
    /// Bytes added since the last flush.
    private var takenBytes = 0

    /// Beyond this many bytes since the last flush, other threads compress while this one reads on.
    ///
    /// Otherwise one thread would compress all of a large file. Many small files are spread over the threads anyway.
    private static let ownBytes = 1 << 20

    /// - Parameter appender: stores new chunks; nil to compute ids without storing anything.
    package init(_ store: ArchiveStore, _ appender: BlockAppender?) {
        self.store = store
        self.appender = appender
    }

    deinit { abandon() }

    /// Whether chunks are stored; otherwise only their ids are computed.
    var isStoring: Bool { appender != nil }

    /// Cuts files into chunks.
    package var chunker: Chunker { store.chunker }

    /// Returns the slices in a list; nil if it is missing, damaged or not on the local disk.
    package func slices(in list: ListedSlices) throws -> [Slice]? {
        do {
            if try store.catalogue.isAway(list.list) { return nil }
            return try ContentReader.slices(in: list, of: store)
        } catch {
            guard error.code == .damaged else { throw error }
            return nil
        }
    }

    /// Whether the archive has a chunk.
    package func contains(_ id: ChunkID) throws -> Bool { try store.catalogue.location(of: id) != nil }

    /// Stores `bytes` as a chunk unless the archive has it.
    ///
    /// - Parameter bases: chunks that are probably similar, the most similar last.
    /// - Returns: the chunk's id.
    package func add(_ kind: ChunkKind, _ bytes: UnsafeRawBufferPointer, bases: [ChunkID] = []) throws -> ChunkID {
        let id = ChunkID(hashing: bytes)
        guard let appender, try appender.commit.claim(id) else { return id }
        takenBytes += bytes.count
        let chunk = RawChunk(id: id, kind: kind, bytes: [UInt8](bytes))
        var usable: [BaseChunk] = []
        for base in bases {
            if let base = try store.base(base) { usable.append(base) }
        }
        // A block may exceed the limit a little, so that none ends early; a large chunk has a block of its own.
        if usable.isEmpty, bytes.count < BlockEncoder.packedBytes / 2 {
            packed.append(chunk)
            packedBytes += bytes.count
            if packedBytes >= BlockEncoder.packedBytes { try appendPacked(appender) }
        } else {
            try append([chunk], bases: usable, appender)
        }
        return id
    }

    /// Stores the packed chunks, and waits for the blocks that other threads append.
    package func flush() throws {
        if let appender { try appendPacked(appender) }
        takenBytes = 0
        try elsewhere.settle()
    }

    /// Waits for other threads and ignores their errors: nothing must be appended to an abandoned commit.
    package func abandon() {
        try? elsewhere.settle()
    }

    private func appendPacked(_ appender: BlockAppender) throws {
        if packed.isEmpty { return }
        try append(packed, bases: [], appender)
        packed.removeAll(keepingCapacity: true)
        packedBytes = 0
    }

    private func append(_ chunks: [RawChunk], bases: [BaseChunk], _ appender: BlockAppender) throws {
        if takenBytes > ChunkPacker.ownBytes, appender.appendElsewhere(chunks, bases: bases, for: elsewhere) { return }
        try appender.append(chunks, bases: bases)
    }
}
