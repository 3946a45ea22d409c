// Random ids of archives and segments, which cannot be named by a hash of their content.

/// 128 random bits that identify one `Owner`.
public struct RandomID<Owner>: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// Bytes in an id.
    package static var byteCount: Int { 16 }

    /// A new id from the system's random source (getrandom(2)).
    package static func random() -> RandomID {
        var source = SystemRandomNumberGenerator()
        return RandomID(high: source.next(), low: source.next())
    }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The id stored in exactly 16 bytes; any other length is a programming error.
    package init(exactly bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count == RandomID.byteCount)
        high = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
        low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// Parses 32 hex digits; nil for any other text.
    public init?(hex: String) {
        guard let bytes = Hex.bytes(hex), bytes.count == RandomID.byteCount else { return nil }
        self = bytes.withUnsafeBytes { RandomID(exactly: $0) }
    }

    /// The id's 16 bytes.
    package var bytes: [UInt8] {
        var bytes = [UInt8]()
        withUnsafeBytes(of: high.bigEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: low.bigEndian) { bytes.append(contentsOf: $0) }
        return bytes
    }

    /// The id as 32 hex digits.
    public var hex: String { Hex.string(bytes) }

    /// The first 8 hex digits, for messages.
    package var short: String { String(hex.prefix(8)) }
}

extension RandomID: Comparable {
    public static func < (left: RandomID, right: RandomID) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }
}

extension RandomID: CustomStringConvertible {
    public var description: String { hex }
}

extension RandomID: Codable {
    public init(from decoder: any Decoder) throws {
        let bytes: [UInt8]? =
            if let decoder = CBORValueDecoder(decoder) {
                try decoder.byteString()
            } else {
                Hex.bytes(try decoder.singleValueContainer().decode(String.self))
            }
        guard let bytes, bytes.count == RandomID.byteCount else { throw decoder.corrupted("not an id of 16 bytes") }
        self = bytes.withUnsafeBytes { RandomID(exactly: $0) }
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
