// archive.json: marks a directory as an archive, and holds its id, format version and parameters. Each segment has a
// copy (`SegmentOpening`).

internal import Crypto
package import FileIO
internal import FoundationEssentials

/// The random id of an archive.
public typealias ArchiveID = RandomID<ArchiveManifest>

/// The content of `archive.json`.
public struct ArchiveManifest: Hashable, Sendable {
    /// Settings that may differ between archives of the same format version.
    package struct Parameters: Hashable, Sendable, Codable {
        /// A segment is sealed once it holds this many bytes.
        package var segmentBytes: Int
        /// Determines where files are cut into chunks.
        package var chunkingSeed: Seed
        /// Determines where trees are cut into nodes.
        package var treeSeed: Seed
        /// The function that makes the ids of chunks.
        package let hash: String

        static let knownHash = "sha-256"

        /// The greatest `segmentBytes`: even after the block that reaches it, all offsets in a segment are below 2^32.
        package static let segmentBytesLimit = 1 << 31

        package init(segmentBytes: Int = 64 << 20, chunkingSeed: Seed = .none, treeSeed: Seed = .none) {
            self.segmentBytes = segmentBytes
            self.chunkingSeed = chunkingSeed
            self.treeSeed = treeSeed
            hash = Parameters.knownHash
        }

        package init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            segmentBytes = try fields.decode(Int.self, forKey: .segmentBytes)
            chunkingSeed = try fields.decodeIfPresent(Seed.self, forKey: .chunkingSeed) ?? .none
            treeSeed = try fields.decodeIfPresent(Seed.self, forKey: .treeSeed) ?? .none
            hash = try fields.decodeIfPresent(String.self, forKey: .hash) ?? Parameters.knownHash
        }
    }

    /// A seed for cuts, written as 16 hex digits: not every JSON reader supports 64-bit integers.
    package struct Seed: Hashable, Sendable, Codable {
        package let number: UInt64

        package init(_ number: UInt64) { self.number = number }

        package static let none = Seed(0)

        package init(from decoder: any Decoder) throws {
            let text = try decoder.singleValueContainer().decode(String.self)
            guard let bytes = Hex.bytes(text), bytes.count == 8 else { throw decoder.corrupted("not 16 hex digits") }
            number = bytes.reduce(0) { $0 << 8 | UInt64($1) }
        }

        package func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(Hex.string(withUnsafeBytes(of: number.bigEndian, Array.init)))
        }
    }

    package let id: ArchiveID
    package let created: Timestamp
    package let parameters: Parameters
    /// Increases with every change of the file: of two copies, the one with the greater number is newer.
    package let revision: UInt64
    /// Features of later programs; a program that does not know one of `requiresToRead` cannot read the archive.
    package let requiresToRead: [String]
    /// A program that does not know one of these words, or of `requiresToRead`, must not change the archive.
    package let requiresToWrite: [String]
    /// The file's bytes, with members that this program does not know.
    private let source: [UInt8]

    package init(
        id: ArchiveID, created: Timestamp, parameters: Parameters = Parameters(), revision: UInt64 = 0,
        requiresToRead: [String] = [], requiresToWrite: [String] = []
    ) {
        self.id = id
        self.created = created
        self.parameters = parameters
        self.revision = revision
        self.requiresToRead = requiresToRead
        self.requiresToWrite = requiresToWrite
        source = ArchiveManifest.bytes(
            Body(
                format: ArchiveManifest.format, version: ArchiveManifest.version, id: id.hex, created: created.rfc3339,
                parameters: parameters, revision: revision == 0 ? nil : revision,
                requiresToRead: requiresToRead.isEmpty ? nil : requiresToRead,
                requiresToWrite: requiresToWrite.isEmpty ? nil : requiresToWrite, checksum: Checksum.placeholder))
    }

    /// Reads a manifest and changes the size of its segments: tests need small ones.
    package init(decoding bytes: [UInt8], segmentBytes: Int) throws(FormatError) {
        let old = try ArchiveManifest(decoding: bytes)
        var parameters = old.parameters
        parameters.segmentBytes = segmentBytes
        self.init(id: old.id, created: old.created, parameters: parameters)
    }

    /// The words of the features that this program knows.
    private static let knownFeatures: Set<String> = []

    /// A feature that this program must know to read the archive, but does not; nil if there is none.
    package var obstacleToReading: String? { requiresToRead.first { !ArchiveManifest.knownFeatures.contains($0) } }

    /// A feature that this program must know to change the archive, but does not; nil if there is none.
    package var obstacleToWriting: String? {
        (requiresToRead + requiresToWrite).first { !ArchiveManifest.knownFeatures.contains($0) }
    }

    private static let format = "archiver"
    /// The version of the format that this program writes and reads.
    package static let version: UInt32 = 1

    /// The fields that are the same in every version of the format.
    private struct Heading: Codable {
        let format: String
        let version: UInt32
    }

    /// All fields in this version.
    private struct Body: Codable {
        let format: String
        let version: UInt32
        let id: String
        let created: String
        let parameters: Parameters
        let revision: UInt64?
        let requiresToRead: [String]?
        let requiresToWrite: [String]?
        let checksum: String
    }

    /// The SHA-256 of the file's bytes with zeros in place of its own 64 digits.
    private enum Checksum {
        static let placeholder = String(repeating: "0", count: 64)

        /// Writes the checksum into `bytes`, which have the placeholder.
        static func insert(into bytes: inout [UInt8]) {
            let digits = Hex.string(Array(SHA256.hash(data: bytes)))
            if let place = bytes.firstRange(of: Array(placeholder.utf8)) {
                bytes.replaceSubrange(place, with: digits.utf8)
            }
        }

        /// Whether `digits` are the checksum of `bytes`, in which they occur once.
        static func isRight(_ digits: String, of bytes: [UInt8]) -> Bool {
            guard digits.utf8.count == 64 else { return false }
            let places = bytes.indices.filter { bytes[$0...].starts(with: digits.utf8) }
            guard places.count == 1 else { return false }
            var bytes = bytes
            bytes.replaceSubrange(places[0]..<places[0] + 64, with: placeholder.utf8)
            return Hex.string(Array(SHA256.hash(data: bytes))) == digits
        }
    }

    /// The file's bytes: indented JSON with sorted keys and a newline at the end.
    package func encoded() -> [UInt8] { source }

    private static func bytes(_ body: Body) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let json = try? encoder.encode(body) else { preconditionFailure("texts and integers are JSON") }
        var bytes = Array(json) + [UInt8(ascii: "\n")]
        Checksum.insert(into: &bytes)
        return bytes
    }

    /// The most bytes of the file.
    package static let byteLimit = 65_536

    /// Refuses what is not a list of words of at most 64 letters a to z, digits and hyphens.
    private static func check(features: [String]) throws(FormatError) {
        for word in features {
            let isWord = word.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
            }
            guard isWord, (1...64).contains(word.utf8.count) else { throw .malformed("archive.json: a feature's word") }
        }
    }

    /// Reads the file's bytes.
    ///
    /// - Throws: `unknownVersion` for a newer format, `unknownFeature` for another hash; `malformed` or
    ///   `checksumMismatch` if the bytes are not a manifest.
    package init(decoding bytes: [UInt8]) throws(FormatError) {
        guard bytes.count <= ArchiveManifest.byteLimit else { throw .malformed("archive.json is too long") }
        let body = try ArchiveManifest.body(Data(bytes))
        guard let id = ArchiveID(hex: body.id), let created = Timestamp(rfc3339: body.created) else {
            throw .malformed("archive.json: the id or the time")
        }
        guard Checksum.isRight(body.checksum, of: bytes) else { throw .checksumMismatch("archive.json") }
        (self.id, self.created, parameters) = (id, created, body.parameters)
        revision = body.revision ?? 0
        (requiresToRead, requiresToWrite) = (body.requiresToRead ?? [], body.requiresToWrite ?? [])
        source = bytes
        try ArchiveManifest.check(features: requiresToRead)
        try ArchiveManifest.check(features: requiresToWrite)
        guard parameters.hash == Parameters.knownHash else { throw .unknownFeature("the hash \(parameters.hash)") }
        guard (1...Parameters.segmentBytesLimit).contains(parameters.segmentBytes) else {
            throw .malformed("archive.json: segmentBytes")
        }
    }

    /// The fields in the file's bytes.
    ///
    /// Every command reads them, so they are decoded at once; those of every version only if that fails.
    private static func body(_ data: Data) throws(FormatError) -> Body {
        let decoder = JSONDecoder()
        do {
            let body = try decoder.decode(Body.self, from: data)
            try check(Heading(format: body.format, version: body.version))
            return body
        } catch let error as FormatError {
            throw error
        } catch {
            guard let heading = try? decoder.decode(Heading.self, from: data) else {
                throw .malformed("archive.json does not describe an archive")
            }
            try check(heading)
            throw .malformed("archive.json: \(error)")
        }
    }

    private static func check(_ heading: Heading) throws(FormatError) {
        guard heading.format == format else { throw .malformed("archive.json does not describe an archive") }
        guard heading.version <= version else { throw .unknownVersion(heading.version) }
        guard heading.version == version else { throw .malformed("archive.json: version 0") }
    }
}
