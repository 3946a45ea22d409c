// The certificate of a purge: what was purged, kept in the archive for later questions.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import FoundationEssentials
internal import Roots
internal import SystemPackage

/// What was asked for, what was done, and what the verification found.
struct PurgeCertificate: Encodable {
    private struct Asked: Encodable {
        var root: String?
        var paths: [String]?
        var pattern: String?
        var contentSHA256: String?
        var contentBytes: UInt64?
        /// The text itself is not written down.
        var textBytes: Int?
    }

    private struct Replacement: Encodable {
        let old: String
        let new: String
    }

    private struct Verified: Encodable {
        let blocks: Int
        let chunks: Int
        let findings: [String]
    }

    private let time: String
    private let asked: Asked
    private let names: Int
    private let snapshots: [Replacement]
    private let states: Int
    private let forgotten: Int
    private let operations: Int
    private let records: Int
    private let segmentsBefore: [String]
    private let segmentsAfter: [String]
    private let bytesBefore: UInt64
    private let bytesAfter: UInt64
    private let verification: Verified
    private let beyondReach: [String]

    /// A certificate of a finished purge.
    ///
    /// - Parameter digest: of the content that was purged; nil if names were.
    init(_ target: PurgeTarget, _ result: PurgeResult, digest: ContentDigest?) {
        time = Timestamp.now.rfc3339
        var asked = Asked(root: target.root.map { String(decoding: $0.path.bytes, as: UTF8.self) })
        switch target {
        case .paths(let paths, _): asked.paths = paths.map { String(decoding: $0.bytes, as: UTF8.self) }
        case .pattern(let pattern, _): asked.pattern = String(decoding: pattern, as: UTF8.self)
        case .content:
            asked.contentSHA256 = digest.map { Hex.string($0.hash) }
            asked.contentBytes = digest?.byteCount
        case .text(let text): asked.textBytes = text.count
        }
        self.asked = asked
        names = result.names.count
        snapshots = result.replaced.map { Replacement(old: $0.key.hex, new: $0.value.hex) }.sorted { $0.old < $1.old }
        (states, forgotten, operations) = (result.states, result.forgotten, result.operations)
        records = result.records
        (segmentsBefore, segmentsAfter) = (result.segmentsBefore, result.segmentsAfter)
        (bytesBefore, bytesAfter) = (result.bytesBefore, result.bytesAfter)
        let found = result.verification ?? PurgeResult.Verification()
        verification = Verified(blocks: found.blocks, chunks: found.chunks, findings: found.findings)
        beyondReach = PurgeResult.beyondReach
    }

    /// Writes the certificate into the archive's directory, and returns its path.
    func write(to layout: ArchiveLayout) throws -> FilePath {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let file = layout.certificates.appending("purge-\(time).json")
        try DurableFile.replace(file, contents: Array(try encoder.encode(self)) + [0x0A])
        return file.path
    }
}
