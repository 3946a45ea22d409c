// The worked example of the format document is an archive.

import ArchiveFormat
import ArchiveStorage
import Foundation
import SnapshotTree
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit

@Suite("The example of the format document", .blocking)
struct FormatExampleTests {
    private static let document = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Sources/ArchiveFormat/ArchiveFormat.docc/Format.md")

    /// The lines of the code block after `heading`, without their indentation.
    private func block(after heading: String, in text: String) throws -> [String] {
        let start = try #require(text.range(of: heading)).upperBound
        let lines = text[start...].split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return Array(lines.drop { !$0.hasPrefix("    ") }.prefix { $0.hasPrefix("    ") || $0.isEmpty })
            .filter { !$0.isEmpty }.map { String($0.dropFirst(4)) }
    }

    @Test("the bytes of the example are an archive with one snapshot of three entries")
    func example() throws {
        let text = try String(contentsOf: Self.document, encoding: .utf8)
        let manifest = try block(after: "**Its archive.json**", in: text).joined() + "\n"
        let hex = try block(after: "**Its segment**", in: text).map { String($0.prefix(35)) }.joined()
        let bytes = try #require(Hex.bytes(String(hex.filter { $0 != " " })))
        let scratch = try TemporaryDirectory()
        let place = scratch.path.appending("archive")
        let folder = place.appending("segments/2026/11/21")
        try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
        try Data(manifest.utf8).write(to: URL(filePath: place.appending("archive.json").string))
        let name = "20261121T101530.000000Z-101112131415161718191a1b1c1d1e1f.segment"
        #expect(text.contains(name))
        try Data(bytes).write(to: URL(filePath: folder.appending(name).string))
        let archive = try Archive.open(place)
        #expect(archive.findings.isEmpty, "\(archive.findings)")
        let check = try archive.check(data: true)
        #expect(check.findings == [] && check.goodSnapshots == 1)
        let snapshot = try #require(try archive.snapshots().first)
        #expect(snapshot.rootPath == Array("/r".utf8))
        var entries: [String] = []
        try archive.forEachEntry(in: snapshot) { entry in
            entries.append("\(entry.path) \(entry.kind) \(String(entry.permissions, radix: 8))")
            return true
        }
        #expect(entries.count == 3 && entries[1].hasPrefix("a file 644") && entries[2].hasPrefix("b symbolicLink 777"))
        let opening = try Segment(archive.store.segments.open("2026/11/21/" + name)).opening()
        #expect(opening?.manifest == manifest && opening?.others == [])
    }
}
