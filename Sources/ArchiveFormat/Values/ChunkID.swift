// Ids of chunks: the SHA-256 of their raw bytes.

internal import Crypto

/// The id of a chunk: the SHA-256 of its raw bytes (FIPS 180-4).
public struct ChunkID: Hashable, Sendable {
    // Four big-endian words, which compare in the order of the bytes.
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// Bytes in an id.
    package static let byteCount = 32

    /// The id of `bytes`.
    package init(hashing bytes: UnsafeRawBufferPointer) {
        var hash = SHA256()
        hash.update(bufferPointer: bytes)
        self = hash.finalize().withUnsafeBytes { ChunkID(exactly: $0) }
    }

    /// The id of `bytes`.
    package init(hashing bytes: [UInt8]) { self.init(hashing: bytes[...]) }

    /// The id of `bytes`.
    package init(hashing bytes: ArraySlice<UInt8>) {
        self = bytes.withUnsafeBytes { ChunkID(hashing: $0) }
    }

    /// The id stored in exactly 32 bytes; any other length is a programming error.
    package init(exactly bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count == ChunkID.byteCount)
        words = (
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)),
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
        )
    }

    /// The id stored in `bytes`; nil if they are not 32 bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == ChunkID.byteCount else { return nil }
        self = Array(bytes).withUnsafeBytes { ChunkID(exactly: $0) }
    }

    /// Parses 64 hex digits; nil for any other text.
    public init?(hex: String) {
        guard let bytes = Hex.bytes(hex) else { return nil }
        self.init(bytes)
    }

    /// The id's 32 bytes.
    package var bytes: [UInt8] {
        withUnsafeBytes { Array($0) }
    }

    /// Calls `body` with the id's 32 bytes.
    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let big = (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
        return try Swift.withUnsafeBytes(of: big, body)
    }

    /// The id's first 64 bits, which are uniformly distributed.
    package var prefix: UInt64 { words.0 }

    /// The id as 64 hex digits.
    public var hex: String { Hex.string(bytes) }

    public static func == (left: ChunkID, right: ChunkID) -> Bool { left.words == right.words }

    public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

extension ChunkID: Comparable {
    public static func < (left: ChunkID, right: ChunkID) -> Bool {
        left.words.0 != right.words.0 ? left.words.0 < right.words.0 : left.words < right.words
    }
}

extension ChunkID: CustomStringConvertible {
    public var description: String { hex }
}

extension ChunkID: Codable {
    public init(from decoder: any Decoder) throws {
        let id =
            if let decoder = CBORValueDecoder(decoder) {
                ChunkID(try decoder.byteString())
            } else {
                ChunkID(hex: try decoder.singleValueContainer().decode(String.self))
            }
        guard let id else { throw decoder.corrupted("not an id") }
        self = id
    }

    public func encode(to encoder: any Encoder) throws {
        if let encoder = CBORValueEncoder(encoder) {
            encoder.write(.bytes(bytes))
        } else {
            var container = encoder.singleValueContainer()
            try container.encode(hex)
        }
    }
}
