// The result of a purge as JSON.

internal import ArchiveFormat
internal import ArchiverKit
internal import FileIO
internal import SystemPackage

/// The output of `purge --json`.
struct PurgeJSON: Encodable {
    private let result: PurgeResult

    private struct Name: Encodable {
        let path: RelativePath
        let snapshots: Int

        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: JSONKey.self)
            try object.encode(bytes: path.bytes, forKey: .path)
            try object.encode(snapshots, forKey: .snapshots)
        }
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

    init(_ result: PurgeResult) { self.result = result }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(result.isDryRun, forKey: .dryRun)
        try object.encode(result.names.map { Name(path: $0.path, snapshots: $0.snapshots) }, forKey: .names)
        let replaced = result.replaced.map { Replacement(old: $0.key.hex, new: $0.value.hex) }
        try object.encode(replaced.sorted { $0.old < $1.old }, forKey: .snapshots)
        try object.encode(result.earlier, forKey: .earlier)
        try object.encode(result.states, forKey: .states)
        try object.encode(result.forgotten, forKey: .forgotten)
        try object.encode(result.operations, forKey: .operations)
        try object.encode(result.records, forKey: .records)
        try object.encode(result.bytesBefore, forKey: .bytesBefore)
        try object.encode(result.isDryRun ? nil : result.bytesAfter, forKey: .bytesAfter)
        let found = result.verification.map { Verified(blocks: $0.blocks, chunks: $0.chunks, findings: $0.findings) }
        try object.encode(found, forKey: .verification)
        try object.encode(result.certificate.map { String(decoding: $0.bytes, as: UTF8.self) }, forKey: .certificate)
        try object.encode(result.stillThere.map { String(decoding: $0.bytes, as: UTF8.self) }, forKey: .stillThere)
    }
}
