// Archives of earlier versions can be read unchanged.

import ArchiveFormat
import ArchiveStorage
import Crypto
import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit

@Suite("Golden archives", .blocking)
struct GoldenArchiveTests {
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "fixtures/golden-archives")

    private static let versions = ["version-1"]
    /// The versions whose archives have other records than snapshots too.
    private static let withRecords = ["version-1"]

    @Test("these tests read every golden archive")
    func complete() throws {
        let found = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path(percentEncoded: false))
        #expect(found.filter { !$0.contains(".") }.sorted() == (Self.versions + FutureArchives.names).sorted())
    }

    @Test("an archive of a released version has unchanged content", arguments: versions)
    func read(version: String) throws {
        let source = Self.folder.appending(path: version)
        let scratch = try TemporaryDirectory()
        defer { withExtendedLifetime(scratch) {} }
        let copy = scratch.path.appending("archive")
        try FileManager.default.copyItem(atPath: source.appending(path: "archive").path(), toPath: copy.string)
        let archive = try Archive.open(copy)
        var lines: [String] = []
        for snapshot in try archive.snapshots() where ["objects", "deep"].contains(snapshot.label) {
            var entries: [Entry] = []
            try archive.forEachEntry(in: snapshot) { entry in
                entries.append(entry)
                return true
            }
            for entry in entries { lines.append(try line(entry, of: snapshot, in: archive)) }
        }
        let listing = try String(contentsOf: source.appending(path: "listing.txt"), encoding: .utf8)
        #expect(lines == listing.split(separator: "\n").map(String.init))
        let check = try archive.check(data: true)
        #expect(check.findings.isEmpty && check.goodSnapshots == check.snapshots)
    }

    @Test("every record of an archive of a released version is read unchanged", arguments: withRecords)
    func records(version: String) throws {
        let source = Self.folder.appending(path: version)
        let scratch = try TemporaryDirectory()
        defer { withExtendedLifetime(scratch) {} }
        let copy = scratch.path.appending("archive")
        try FileManager.default.copyItem(atPath: source.appending(path: "archive").path(), toPath: copy.string)
        let archive = try Archive.open(copy)
        let expected = try String(contentsOf: source.appending(path: "records.txt"), encoding: .utf8)
        #expect(try GoldenRecords.lines(of: archive) == expected.split(separator: "\n").map(String.init))
        for kind in [
            "state", "gap", "operation", "notice", "dropped", "sealed", "to depth 16", "forgotten", "pin", "note",
            "policy",
            "late", "deletion", "lost",
        ] {
            #expect(expected.contains(kind), "\(kind)")
        }
    }

    private func line(_ entry: Entry, of snapshot: ListedSnapshot, in archive: Archive) throws -> String {
        var hash = SHA256()
        if case .linkTarget(let target) = entry.content { hash.update(data: target) }
        try archive.forEachPiece(of: entry) { piece in
            hash.update(bufferPointer: piece)
            return true
        }
        let attributes = try archive.attributes(of: entry).map {
            "\(String(decoding: $0.name, as: UTF8.self))=\(Hex.string($0.value))"
        }
        let time = Int128(entry.modified.seconds) * 1_000_000_000 + Int128(entry.modified.nanoseconds)
        let cells = [
            snapshot.label ?? "", entry.path.isRoot ? "-" : Hex.string(entry.path.bytes), "\(entry.kind)",
            String(entry.permissions, radix: 8), "\(time)", "\(entry.size)", Hex.string(Array(hash.finalize())),
            attributes.isEmpty ? "-" : attributes.joined(separator: ","),
        ]
        return cells.joined(separator: "\t")
    }
}
