// Encoders for whoever has something to store: to make one costs more than most changes of a watched directory.

internal import ArchiveFormat
internal import Threading

/// Encoders that are kept for the next time.
///
/// Safe to use from several threads.
final class EncoderPool: Sendable {
    /// One encoder; one thread at a time has it.
    private final class Encoder: @unchecked Sendable {
        // Unchecked: the pool hands an encoder to one thread at a time.
        var encoder: BlockEncoder

        init(level: Int) throws(StorageError) { encoder = try BlockEncoder(level: level) }
    }

    private let free = Locked<[Int: [Encoder]]>([:])

    /// Compresses `chunks`, at least one, into a block.
    ///
    /// - Parameters:
    ///   - bases: chunks to compress against, the most alike last; each of a depth below the format's limit.
    ///   - level: zlib's effort, 1 (fast) to 9 (small).
    func encode(_ chunks: [RawChunk], bases: [BaseChunk], level: Int) throws(StorageError) -> EncodedBlock {
        let kept = free.withLock { $0[level]?.popLast() }
        let encoder = if let kept { kept } else { try Encoder(level: level) }
        defer { free.withLock { $0[level, default: []].append(encoder) } }
        return try encoder.encoder.encode(chunks, bases: bases)
    }
}

extension ArchiveStore {
    /// The effort that what is small or seldom is worth.
    package static let thoroughLevel = 9

    /// Compresses `chunks`, at least one, into a block.
    ///
    /// - Parameters:
    ///   - bases: chunks to compress against, the most alike last; each of a depth below the format's limit.
    ///   - level: zlib's effort, 1 (fast) to 9 (small).
    package func encode(
        _ chunks: [RawChunk], bases: [BaseChunk] = [], level: Int = thoroughLevel
    ) throws(StorageError) -> EncodedBlock {
        try encoders.encode(chunks, bases: bases, level: level)
    }
}
