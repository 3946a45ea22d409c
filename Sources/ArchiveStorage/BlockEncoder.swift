// Packs chunks into blocks: compressed together, against older chunks where that helps.

package import ArchiveFormat
internal import Compression
internal import FileIO
internal import SystemPackage

/// A chunk that is to be stored.
package struct RawChunk: Sendable {
    package let id: ChunkID
    package let kind: ChunkKind
    package let bytes: [UInt8]

    package init(id: ChunkID, kind: ChunkKind, bytes: [UInt8]) {
        self.id = id
        self.kind = kind
        self.bytes = bytes
    }

    /// A chunk named by the SHA-256 of `bytes`.
    package init(kind: ChunkKind, bytes: [UInt8]) {
        self.init(id: ChunkID(hashing: bytes), kind: kind, bytes: bytes)
    }
}

/// A stored chunk whose bytes serve as a preset dictionary.
package struct BaseChunk: Sendable {
    package let id: ChunkID
    package let bytes: [UInt8]
    /// How many bases its own block stands on.
    package let depth: Int

    package init(id: ChunkID, bytes: [UInt8], depth: Int) {
        self.id = id
        self.bytes = bytes
        self.depth = depth
    }
}

/// A block ready to be appended to a segment.
package struct EncodedBlock: Sendable {
    package let header: BlockHeader
    /// Header and payload.
    package let bytes: [UInt8]
}

/// Compresses chunks into blocks; one encoder a thread.
package struct BlockEncoder: ~Copyable {
    private var deflater: Deflater

    /// The raw bytes after which a block of small chunks is complete.
    package static let packedBytes = 128 << 10

    /// - Parameter level: zlib's effort, 1 (fast) to 9 (small).
    package init(level: Int) throws(StorageError) {
        do { deflater = try Deflater(level: level) } catch { throw BlockEncoder.refused(error) }
    }

    /// Compresses `chunks`, at least one, into a block.
    ///
    /// - Parameter bases: chunks to compress against, the most alike last; each of a depth below the format's limit.
    package mutating func encode(_ chunks: [RawChunk], bases: [BaseChunk] = []) throws(StorageError) -> EncodedBlock {
        var raw = chunks[0].bytes
        if chunks.count > 1 {
            raw.reserveCapacity(chunks.reduce(0) { $0 + $1.bytes.count })
            for chunk in chunks.dropFirst() { raw += chunk.bytes }
        }
        let dictionary = BlockEncoder.dictionary(bases.map(\.bytes))
        var payload = [UInt8]()
        let isSmaller = try compress(raw, dictionary: dictionary, into: &payload)
        // What does not shrink is stored as it is, and then stands on no base.
        let usedBases = isSmaller ? bases : []
        if !isSmaller { payload = raw }
        let header = BlockHeader(
            codec: isSmaller ? .deflate : .stored,
            depth: usedBases.isEmpty ? 0 : 1 + (usedBases.map(\.depth).max() ?? 0),
            rawLength: raw.count,
            storedLength: payload.count,
            payloadChecksum: payload.withUnsafeBytes { crc32($0) },
            bases: usedBases.map(\.id),
            chunks: chunks.map { BlockHeader.Chunk(kind: $0.kind, length: $0.bytes.count, id: $0.id) })
        return EncodedBlock(header: header, bytes: header.encoded() + payload)
    }

    private mutating func compress(
        _ raw: [UInt8], dictionary: [UInt8], into payload: inout [UInt8]
    ) throws(StorageError) -> Bool {
        if raw.isEmpty { return false }
        do {
            return try raw.withRawBytes { input throws(CompressionError) in
                try dictionary.withRawBytes { dictionary throws(CompressionError) in
                    if dictionary.isEmpty, Compressibility.isLikelyIncompressible(input) { return false }
                    return try deflater.deflate(
                        input, dictionary: dictionary.isEmpty ? nil : dictionary, into: &payload)
                }
            }
        } catch {
            throw BlockEncoder.refused(error)
        }
    }

    /// The preset dictionary that `bases` make: the last 32 KiB of their bytes joined.
    static func dictionary(_ bases: [[UInt8]]) -> [UInt8] {
        var parts: [ArraySlice<UInt8>] = []
        var room = BlockHeader.dictionaryLimit
        for base in bases.reversed() where room > 0 {
            let part = base.suffix(room)
            room -= part.count
            parts.append(part)
        }
        var dictionary = [UInt8]()
        dictionary.reserveCapacity(BlockHeader.dictionaryLimit - room)
        for part in parts.reversed() { dictionary += part }
        return dictionary
    }

    private static func refused(_ error: CompressionError) -> StorageError {
        StorageError(.system, "", "zlib refused to compress: \(error)", remedy: "check the memory available")
    }
}
