// Ids of machines: roots with the same path on two machines are different roots, whatever the machines are called.

/// The id of the machine that a root is on: 16 bytes that stay the same when the machine is renamed.
///
/// They are derived from a secret, normally the system's own id, which is confidential (machine-id(5)). The secret
/// cannot be computed from them.
public struct MachineID: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// Bytes in an id.
    package static var byteCount: Int { 16 }

    /// The id of an unknown machine: all bytes are 0.
    public static let unknown = MachineID(high: 0, low: 0)

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The id stored in exactly 16 bytes; nil for other lengths.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == MachineID.byteCount else { return nil }
        func number(_ bytes: some Collection<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: number(bytes.prefix(8)), low: number(bytes.dropFirst(8)))
    }

    /// Derives a machine's id from `secret`, which is normally the system's own id.
    package init(deriving secret: [UInt8]) {
        let digest = ChunkID(hashing: Array("archiver machine\0".utf8) + secret).bytes
        self = MachineID(digest.prefix(MachineID.byteCount)) ?? .unknown
    }

    /// The id's 16 bytes.
    package var bytes: [UInt8] {
        [high, low].flatMap { number in withUnsafeBytes(of: number.bigEndian) { Array($0) } }
    }

    /// The id as 32 hex digits.
    public var hex: String { Hex.string(bytes) }

    /// The first 8 hex digits, as lists show them.
    package var short: String { String(hex.prefix(8)) }
}

extension MachineID: CustomStringConvertible {
    public var description: String { hex }
}

extension MachineID: Codable {
    public init(from decoder: any Decoder) throws {
        let bytes: [UInt8]? =
            if let decoder = CBORValueDecoder(decoder) {
                try decoder.byteString()
            } else {
                Hex.bytes(try decoder.singleValueContainer().decode(String.self))
            }
        guard let bytes, let id = MachineID(bytes), id != .unknown else {
            throw decoder.corrupted("not a machine's id")
        }
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

extension CBORWriter {
    mutating func machine(_ machine: MachineID) { byteString(machine.bytes) }
}

extension CBORReader {
    /// Reads a machine's id; an unknown one is left out, so it is refused here.
    mutating func machine() throws(FormatError) -> MachineID {
        guard let machine = MachineID(Array(try byteString())) else {
            throw .malformed("a machine's id that is not 16 bytes long")
        }
        guard machine != .unknown else { throw .malformed("a default value that is written out") }
        return machine
    }
}
