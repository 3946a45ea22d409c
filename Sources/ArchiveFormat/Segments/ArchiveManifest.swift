// archive.json: marks a directory as an archive, and holds its id, format version and parameters.

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

        /// The greatest `segmentBytes`: even after the block that reaches it, all offsets in a segment are below 2^32.
        package static let segmentBytesLimit = 1 << 31

        package init(segmentBytes: Int = 64 << 20, chunkingSeed: Seed = .none, treeSeed: Seed = .none) {
            self.segmentBytes = segmentBytes
            self.chunkingSeed = chunkingSeed
            self.treeSeed = treeSeed
        }

        package init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                segmentBytes: try fields.decode(Int.self, forKey: .segmentBytes),
                chunkingSeed: try fields.decodeIfPresent(Seed.self, forKey: .chunkingSeed) ?? .none,
                treeSeed: try fields.decodeIfPresent(Seed.self, forKey: .treeSeed) ?? .none)
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

    package init(id: ArchiveID, created: Timestamp, parameters: Parameters = Parameters()) {
        self.id = id
        self.created = created
        self.parameters = parameters
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
        let id: ArchiveID
        let created: Timestamp
        let parameters: Parameters
    }

    /// The file's bytes: indented JSON with sorted keys and a newline at the end.
    package func encoded() -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let body = Body(
            format: ArchiveManifest.format, version: ArchiveManifest.version, id: id, created: created,
            parameters: parameters)
        guard let json = try? encoder.encode(body) else { preconditionFailure("texts and integers are JSON") }
        return Array(json) + [UInt8(ascii: "\n")]
    }

    /// Reads the file's bytes.
    ///
    /// - Throws: `unknownVersion` for a newer format; `malformed` if the bytes are not a manifest.
    package init(decoding bytes: [UInt8]) throws(FormatError) {
        let decoder = JSONDecoder()
        let data = Data(bytes)
        guard let heading = try? decoder.decode(Heading.self, from: data), heading.format == ArchiveManifest.format
        else { throw .malformed("archive.json does not describe an archive") }
        guard heading.version <= ArchiveManifest.version else { throw .unknownVersion(heading.version) }
        guard heading.version == ArchiveManifest.version else { throw .malformed("archive.json: version 0") }
        do {
            let body = try decoder.decode(Body.self, from: data)
            self.init(id: body.id, created: body.created, parameters: body.parameters)
        } catch {
            throw .malformed("archive.json: \(error)")
        }
        guard (1...Parameters.segmentBytesLimit).contains(parameters.segmentBytes) else {
            throw .malformed("archive.json: segmentBytes")
        }
    }
}
