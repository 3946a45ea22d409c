// The first bytes of a chunk's id, which are enough to find the chunk.

/// The first 20 bytes of a chunk's id.
///
/// Blocks name their bases by it. It takes 2^80 attempts to find two chunks with equal prefixes, and a chunk that was
/// unpacked with the wrong base does not have the requested id.
package struct ChunkPrefix: Hashable, Sendable {
    // Big-endian, as in `ChunkID`.
    private let words: (UInt64, UInt64, UInt32)

    /// Bytes in a prefix.
    package static let byteCount = 20

    /// The prefix of `id`.
    package init(_ id: ChunkID) {
        self = id.withUnsafeBytes { ChunkPrefix(exactly: $0.slice(0..<ChunkPrefix.byteCount)) }
    }

    /// The prefix stored in exactly 20 bytes; any other length is a programming error.
    package init(exactly bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count == ChunkPrefix.byteCount)
        words = (
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
            UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self))
        )
    }

    /// The prefix's 20 bytes.
    package var bytes: [UInt8] {
        let first = withUnsafeBytes(of: words.0.bigEndian, Array.init)
        let second = withUnsafeBytes(of: words.1.bigEndian, Array.init)
        return first + second + withUnsafeBytes(of: words.2.bigEndian, Array.init)
    }

    /// The first 64 bits, which are uniformly distributed.
    package var first: UInt64 { words.0 }

    /// Whether `id` begins with this prefix.
    package func begins(_ id: ChunkID) -> Bool { self == ChunkPrefix(id) }

    package static func == (left: ChunkPrefix, right: ChunkPrefix) -> Bool { left.words == right.words }

    package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

extension ChunkPrefix: CustomStringConvertible {
    package var description: String { Hex.string(bytes) }
}
