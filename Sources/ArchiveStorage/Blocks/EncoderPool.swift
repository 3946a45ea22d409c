// A pool of encoders: creating one costs more than storing most changes of a watched directory.

internal import ArchiveFormat
internal import Threading

/// Reuses encoders.
///
/// It can be used from several threads.
final class EncoderPool: Sendable {
    /// One encoder, used by one thread at a time.
    private final class Encoder: @unchecked Sendable {
        // Unchecked: the pool gives an encoder to one thread at a time.
        var encoder: BlockEncoder

        init(level: Int) throws(StorageError) { encoder = try BlockEncoder(level: level) }
    }

    private let free = Locked<[Int: [Encoder]]>([:])

    /// Compresses `chunks`, at least one, into a block.
    ///
    /// - Parameters:
    ///   - bases: chunks to compress against, the most similar last; their depths must be below the format's limit.
    ///   - level: zlib's effort, 1 (fast) to 9 (small).
    func encode(_ chunks: [RawChunk], bases: [BaseChunk], level: Int) throws(StorageError) -> EncodedBlock {
        let kept = free.withLock { $0[level]?.popLast() }
        let encoder = if let kept { kept } else { try Encoder(level: level) }
        defer { free.withLock { $0[level, default: []].append(encoder) } }
        return try encoder.encoder.encode(chunks, bases: bases)
    }
}

extension ArchiveStore {
    /// The level for small or rare data.
    package static let thoroughLevel = 9

    /// Compresses `chunks`, at least one, into a block.
    ///
    /// - Parameters:
    ///   - bases: chunks to compress against, the most similar last; their depths must be below the format's limit. They
    ///     are not used if a reader could refuse the work of unpacking all of them.
    ///   - level: zlib's effort, 1 (fast) to 9 (small).
    package func encode(
        _ chunks: [RawChunk], bases: [BaseChunk] = [], level: Int = thoroughLevel
    ) throws(StorageError) -> EncodedBlock {
        let rawLength = chunks.reduce(0) { $0 + $1.bytes.count }
        guard !bases.isEmpty, try mayDepend(rawLength: rawLength, on: bases) else {
            return try encoders.encode(chunks, bases: [], level: level)
        }
        return try encoders.encode(chunks, bases: bases, level: level)
    }
}
