// Turns bytes into stored chunks: asks whether the archive has them, packs small ones together, and compresses changed
// ones against what they were.

internal import ArchiveFormat
internal import ArchiveStorage

/// Stores chunks through a commit; without a commit it only names them.
///
/// Used by one thread at a time.
final class ChunkPacker {
    private let store: ArchiveStore
    private let commit: CommitWriter?
    private var encoder: BlockEncoder
    /// Takes the place of `encoder` until much was stored.
    private var thoroughEncoder: BlockEncoder
    private var packed: [RawChunk] = []
    private var packedBytes = 0

    /// The first bytes that a commit stores are worth the most effort: it costs no time that anybody notices, and most
    /// histories begin with no more than that.
    private static let thoroughBytes: UInt64 = 4 << 20
    private static let thoroughLevel = 9

    /// - Parameters:
    ///   - commit: where new chunks go; nil to name chunks without storing anything.
    ///   - level: zlib's effort for what is more than a little, 1 to 9.
    init(_ store: ArchiveStore, commit: CommitWriter?, level: Int) throws {
        self.store = store
        self.commit = commit
        encoder = try BlockEncoder(level: level)
        thoroughEncoder = try BlockEncoder(level: ChunkPacker.thoroughLevel)
    }

    /// Stores `bytes` unless the archive has them.
    ///
    /// - Parameter bases: chunks that are probably much like it, the most alike last.
    /// - Returns: the chunk's id.
    func add(_ kind: ChunkKind, _ bytes: UnsafeRawBufferPointer, bases: [ChunkID] = []) throws -> ChunkID {
        let id = ChunkID(hashing: bytes)
        guard let commit, try commit.claim(id) else { return id }
        let chunk = RawChunk(id: id, kind: kind, bytes: [UInt8](bytes))
        var usable: [BaseChunk] = []
        for base in bases {
            if let base = try store.base(base) { usable.append(base) }
        }
        if usable.isEmpty {
            if packedBytes + bytes.count > BlockEncoder.packedBytes { try flush() }
            packed.append(chunk)
            packedBytes += bytes.count
        } else {
            try commit.append(encode([chunk], bases: usable, for: commit))
        }
        return id
    }

    /// Stores what was packed and not yet written.
    func flush() throws {
        guard let commit, !packed.isEmpty else { return }
        try commit.append(encode(packed, for: commit))
        packed.removeAll(keepingCapacity: true)
        packedBytes = 0
    }

    private func encode(
        _ chunks: [RawChunk], bases: [BaseChunk] = [], for commit: CommitWriter
    ) throws -> EncodedBlock {
        commit.storedBytes < ChunkPacker.thoroughBytes
            ? try thoroughEncoder.encode(chunks, bases: bases) : try encoder.encode(chunks, bases: bases)
    }
}
