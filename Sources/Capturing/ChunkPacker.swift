// Turns bytes into stored chunks: asks whether the archive has them, packs small ones together, and compresses changed
// ones against what they were.

package import ArchiveFormat
package import ArchiveStorage
internal import SnapshotTree

/// Stores chunks through a commit; without a commit it only names them.
///
/// Used by one thread at a time.
package final class ChunkPacker {
    private let store: ArchiveStore
    private let appender: BlockAppender?
    private var packed: [RawChunk] = []
    private var packedBytes = 0
    /// Blocks that other threads append.
    private let elsewhere = BlockBatch()
    /// Bytes taken since the last flush.
    private var takenBytes = 0

    /// What a large file has more than this is compressed by other threads while its next bytes are read.
    ///
    /// Else one thread had all of it to do. Small files are many, and other threads have them anyway.
    private static let ownBytes = 1 << 20

    /// - Parameter appender: where new chunks go; nil to name chunks without storing anything.
    package init(_ store: ArchiveStore, _ appender: BlockAppender?) {
        self.store = store
        self.appender = appender
    }

    deinit { abandon() }

    /// Whether chunks are stored and not only named.
    var isStoring: Bool { appender != nil }

    /// How files are cut.
    package var chunker: Chunker { store.chunker }

    /// The slices in a list; nil where it is missing or damaged.
    package func slices(in list: ListedSlices) throws -> [Slice]? {
        do {
            return try ContentReader.slices(in: list, of: store)
        } catch {
            guard error.code == .damaged else { throw error }
            return nil
        }
    }

    /// Whether the archive has a chunk.
    package func contains(_ id: ChunkID) throws -> Bool { try store.catalogue.location(of: id) != nil }

    /// Stores `bytes` unless the archive has them.
    ///
    /// - Parameter bases: chunks that are probably much like it, the most alike last.
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
        // A block may become somewhat longer, so that none ends early; what is large has one of its own.
        if usable.isEmpty, bytes.count < BlockEncoder.packedBytes / 2 {
            packed.append(chunk)
            packedBytes += bytes.count
            if packedBytes >= BlockEncoder.packedBytes { try appendPacked(appender) }
        } else {
            try append([chunk], bases: usable, appender)
        }
        return id
    }

    /// Stores what was packed and not yet written, and waits for what other threads have to store.
    package func flush() throws {
        if let appender { try appendPacked(appender) }
        takenBytes = 0
        try elsewhere.settle()
    }

    /// Waits for other threads without regard to how they fare: nothing may be appended to a commit that was given up.
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
