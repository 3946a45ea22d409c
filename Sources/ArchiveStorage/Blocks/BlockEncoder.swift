// Packs chunks into blocks: compressed together, and against older chunks if that helps.

package import ArchiveFormat
internal import Compression
internal import FileIO
internal import Glibc
internal import SystemPackage

/// A chunk to be stored.
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

/// A stored chunk that another one is compressed against.
package struct BaseChunk: Sendable {
    package let id: ChunkID
    package let bytes: [UInt8]
    /// The depth of its block: the longest chain of bases that it depends on.
    package let depth: Int
    /// What it takes to unpack its block; nil if that is not known.
    let cost: UnpackingCost?

    package init(id: ChunkID, bytes: [UInt8], depth: Int) {
        self.init(id: id, bytes: bytes, depth: depth, cost: nil)
    }

    init(id: ChunkID, bytes: [UInt8], depth: Int, cost: UnpackingCost?) {
        self.id = id
        self.bytes = bytes
        self.depth = depth
        self.cost = cost
    }
}

/// A block ready to be appended to a segment.
package struct EncodedBlock: Sendable {
    package let header: BlockHeader
    package let payload: [UInt8]

    package init(header: BlockHeader, payload: [UInt8]) {
        self.header = header
        self.payload = payload
    }

    /// Bytes of header and payload.
    package var byteCount: Int { header.blockLength }

    /// The header and payload for a block at `place`.
    package func bytes(at place: BlockPlace) -> [UInt8] { header.encoded(at: place) + payload }
}

/// Compresses chunks into blocks; each thread needs its own encoder.
package struct BlockEncoder: ~Copyable {
    private var deflater: Deflater
    private var deltas = DeltaEncoder()

    /// The raw bytes after which a block of small chunks is complete.
    package static let packedBytes = 128 << 10

    /// - Parameter level: zlib's effort, 1 (fast) to 9 (small).
    package init(level: Int) throws(StorageError) {
        do { deflater = try Deflater(level: level) } catch { throw BlockEncoder.refused(error) }
    }

    /// Compresses `chunks`, at least one, into a block.
    ///
    /// - Parameter bases: chunks to compress against, the most similar last; their depths must be below the format's
    ///   limit.
    package mutating func encode(_ chunks: [RawChunk], bases: [BaseChunk] = []) throws(StorageError) -> EncodedBlock {
        try BlockEncoder.checkLimits(of: chunks)
        var raw = chunks[0].bytes
        if chunks.count > 1 {
            raw.reserveCapacity(chunks.reduce(0) { $0 + $1.bytes.count })
            for chunk in chunks.dropFirst() { raw += chunk.bytes }
        }
        let (codec, payload) = try pack(raw, bases)
        // A block that is no delta has no bases.
        let usedBases = codec == .delta ? bases : []
        let header = BlockHeader(
            codec: codec,
            depth: usedBases.isEmpty ? 0 : 1 + (usedBases.map(\.depth).max() ?? 0),
            storedLength: payload.count,
            payloadChecksum: payload.withUnsafeBytes { crc32($0) },
            bases: usedBases.map { ChunkPrefix($0.id) },
            chunks: chunks.map { BlockHeader.Chunk(kind: $0.kind, length: $0.bytes.count, id: $0.id) })
        return EncodedBlock(header: header, payload: payload)
    }

    /// Throws if readers would reject the block.
    private static func checkLimits(of chunks: [RawChunk]) throws(StorageError) {
        let rawLength = chunks.reduce(0) { $0 + $1.bytes.count }
        if rawLength <= BlockHeader.rawLengthLimit, chunks.count <= BlockHeader.chunkCountLimit { return }
        throw StorageError(
            .system, "",
            "\(rawLength) bytes in \(chunks.count) parts do not fit into one block, which holds "
                + "\(BlockHeader.rawLengthLimit) bytes in \(BlockHeader.chunkCountLimit) parts",
            remedy: "use a shorter label or title, or fewer patterns")
    }

    /// The payload for `raw`: a delta against the bases if there are bases and that is shorter, otherwise all of it.
    private mutating func pack(
        _ raw: [UInt8], _ bases: [BaseChunk]
    ) throws(StorageError) -> (codec: Codec, payload: [UInt8]) {
        if raw.isEmpty { return (.stored, raw) }
        let sourceLength = bases.reduce(0) { $0 + $1.bytes.count }
        let isUsable = sourceLength > 0 && sourceLength <= BlockHeader.sourceLengthLimit
        do {
            if isUsable {
                // `joined()` would copy the bytes one by one; one base is not copied at all.
                let source = bases.dropFirst().reduce(into: bases[0].bytes) { $0 += $1.bytes }
                if let payload = try delta(of: raw, from: source) { return (.delta, payload) }
            }
            var payload: [UInt8] = []
            let isSmaller = try raw.withRawBytes { input throws(CompressionError) in
                if Compressibility.isLikelyIncompressible(input) { return false }
                return try deflater.deflate(input, into: &payload)
            }
            return isSmaller ? (.deflate, payload) : (.stored, raw)
        } catch {
            throw BlockEncoder.refused(error)
        }
    }

    /// The payload of a delta block; nil if it is not shorter than `raw`.
    private mutating func delta(of raw: [UInt8], from source: [UInt8]) throws(CompressionError) -> [UInt8]? {
        let found = raw.withUnsafeBytes { target in
            source.withUnsafeBytes { source in
                deltas.delta(of: target, from: source, limit: target.count + DeltaPayload.excessLimit)
            }
        }
        guard let delta = found else { return nil }
        var payload = DeltaPayload.length(delta.count)
        let isSmaller = try delta.withRawBytes { delta throws(CompressionError) in
            try source.withRawBytes { source throws(CompressionError) in
                try deflater.deflate(delta, dictionary: DeltaPayload.dictionary(source), into: &payload)
            }
        }
        if !isSmaller { payload += delta }
        guard payload.count < raw.count else { return nil }
        // No later step checks a delta until it is read, perhaps years later. So it is unpacked here, and not stored if
        // wrong.
        let again = try? payload.withRawBytes { payload throws(CompressionError) in
            try source.withRawBytes { source throws(CompressionError) in
                try DeltaPayload.unpack(payload, bases: source, rawLength: raw.count)
            }
        }
        // `==` would compare the bytes one by one.
        guard let again, again.count == raw.count, memcmp(again, raw, raw.count) == 0 else { return nil }
        return payload
    }

    private static func refused(_ error: CompressionError) -> StorageError {
        StorageError(.system, "", "zlib refused to compress: \(error)", remedy: "check the memory available")
    }
}
