// Makes a golden archive: run once for each version of the format, never for an existing archive.

import ArchiveFormat
import ArchiveStorage
import Exclusions
import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit

/// The state that the golden archive has in several versions.
private struct GoldenState: Codable, Sendable {
    var level: Int
    var items: [String]
}

/// The directory for the new archive and its root; it must not exist yet.
private let place = ProcessInfo.processInfo.environment["ARCHIVER_GOLDEN"].map { FilePath($0) }

@Suite("Making golden archives", .blocking, .enabled(if: place != nil))
struct GoldenArchiveMaking {
    private static let listing = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "fixtures/golden-archives/listing.py")

    @Test("a golden archive is made in $ARCHIVER_GOLDEN")
    func make() throws {
        let made = Files(try #require(place))
        try Files("/").makeDirectory(made.directory)
        try made.makeDirectory("archive")
        let parameters = ArchiveManifest.Parameters(
            segmentBytes: 24 << 10, chunkingSeed: .init(0x0123_4567_89ab_cdef), treeSeed: .init(0xfedc_ba98_7654_3210))
        try made.write(
            "archive/archive.json",
            ArchiveManifest(id: .random(), created: .now, parameters: parameters).encoded())
        let root = Files(made.full("root"))
        try Files("/").makeDirectory(root.directory)
        let archive = try Archive.open(made.full("archive"), creating: false)
        var lines: [String] = []

        try objects(root)
        try lines += capture(root, archive, "objects")
        // A chain of deltas with the greatest depth.
        for number in 0..<18 {
            try root.write("deep", GoldenArchiveMaking.text(changing: number))
            try root.setTime("deep", 1_700_000_000 + number)
            _ = try archive.capture(root.directory)
        }
        try root.remove("first/link")
        try root.makeDirectory("first/link")
        try lines += capture(root, archive, "deep")
        try records(root, archive)
        try drop(archive)
        try made.write("listing.txt", lines.joined())
        let reopened = try Archive.open(made.full("archive"))
        #expect(try reopened.check(data: true).findings == [])
        try made.write("records.txt", GoldenRecords.lines(of: reopened).joined(separator: "\n") + "\n")
    }

    private static func text(changing number: Int) -> String {
        (0..<60).map { "line \($0)\($0 == 3 * number ? ", changed" : "") of a text that is long enough\n" }.joined()
    }

    /// Every kind of entry, and every form of content.
    private func objects(_ root: Files) throws {
        for (index, path) in ["first", "first/second", "first/second/third"].enumerated() {
            try root.makeDirectory(FilePath(path))
            try root.write(FilePath(path + "/file"), "in directory \(index)\n")
        }
        try root.write("empty", "")
        try root.write("inline", "at most 96 bytes")
        try root.write("chunk", String(repeating: "more than 96 bytes\n", count: 30))
        try root.write("deep", GoldenArchiveMaking.text(changing: 99))
        try root.write(FilePath(bytes: [0x6e, 0x6f, 0x74, 0xff, 0x75, 0x74, 0x66]), "a name that is not UTF-8")
        // Twenty runs of data between holes are more slices than an entry can have.
        for number in 0..<20 {
            try root.write(
                "lists", Array("run \(number)".utf8) + [UInt8](repeating: 0x61, count: 4000), at: number * 65_536)
        }
        try root.write("hole", Array("end".utf8), at: 1 << 20)
        try root.makeSymbolicLink("first/link", to: "../nowhere")
        try root.makeNode("fifo", S_IFIFO)
        try root.makeNode("socket", S_IFSOCK)
        try root.makeNode("character", S_IFCHR, device: 0x0103)
        try root.makeNode("block", S_IFBLK, device: 0x0700)
        try root.write(
            "linked", "several names of one file, and more than 96 bytes: " + String(repeating: "x", count: 80))
        try root.makeLink("first/linked", to: "linked")
        try root.setAttribute("inline", "user.golden", [0, 1, 255])
        try root.setAttribute("first", "user.empty", [])
        let text = Array(GoldenArchiveMaking.text(changing: 7).utf8)
        try root.setAttribute("first/second", "user.large", Array(text.prefix(900)))
        try root.setPermissions("chunk", 0o4711)
        try root.setOwner("empty", 1234, 5678)
        for path in ["empty", "inline", "chunk", "lists", "hole", "first/link", "fifo", "first"] {
            try root.setTime(FilePath(path), 1_600_000_000, 123_456_789)
        }
        try root.setTime("linked", -1, 999_999_999)
    }

    private func capture(_ root: Files, _ archive: Archive, _ label: String) throws -> [String] {
        let result = try archive.capture(root.directory, CaptureOptions(label: label))
        #expect(result.snapshot != nil && result.problems.isEmpty)
        let outcome = try ChildProcess.run([
            "python3", Self.listing.path(percentEncoded: false), label, root.directory.string,
        ])
        #expect(outcome.status == 0)
        return [outcome.text]
    }

    /// Adds operations, gaps, states, records of forgetting, root notices, and a snapshot with exclusions.
    private func records(_ root: Files, _ archive: Archive) throws {
        let snapshots = try archive.snapshots()
        _ = try archive.restore(snapshots[3])
        let rootRecord = try #require(try archive.roots().first)
        _ = try archive.undo(rootRecord)
        _ = try archive.redo(rootRecord)
        try root.write("left out", "by a pattern")
        var rules = ExclusionRules()
        rules.patterns = [Array("left*".utf8)]
        _ = try archive.capture(root.directory, CaptureOptions(label: "aside", exclusions: rules))
        let latest = try #require(try archive.snapshots().last)
        for (index, cause) in GapCause.allCases.enumerated() {
            try archive.store.enter([
                GapRecord(
                    rootPath: latest.rootPath, host: latest.host, cause: cause,
                    start: Timestamp(seconds: 1_700_000_000 + Int64(index)),
                    end: Timestamp(seconds: 1_700_000_100, nanoseconds: 5), detail: index == 0 ? "details" : nil,
                    machine: latest.machine)
            ])
        }
        for number in 0..<3 {
            try archive.save(
                GoldenState(level: number, items: (0..<40).map { "item \($0 + number)" }), as: "golden",
                label: number == 1 ? "label" : nil)
        }
        try archive.save(42, as: "number")
        let states = try archive.store.catalogue.states()
        try archive.store.forget([states[0].id.chunk, snapshots[5].id.chunk, snapshots[6].id.chunk])
        try archive.store.unforget([snapshots[6].id.chunk])
        try archive.label(.snapshot(snapshots[7]), as: "late")
        try archive.pin(.snapshot(snapshots[8]), until: Timestamp(seconds: 9_000_000_000), reason: "golden")
        try archive.pin(.snapshot(snapshots[9]))
        try archive.unpin(.snapshot(snapshots[9]))
        try archive.note("about all of it", about: rootRecord)
        try archive.note("about one state", about: rootRecord, snapshot: latest.id)
        try archive.store.enter(
            PolicyRecord(
                time: .now, tiers: [.init(width: 0, age: 3600), .init(width: 86_400, age: nil)], maxSize: 1 << 40,
                minFreeBytes: 1 << 30, minFreePercent: 5))
        try archive.store.enter(
            PolicyRecord(
                rootPath: latest.rootPath, host: latest.host, machine: latest.machine, time: .now,
                tiers: [.init(width: 604_800, age: nil)]))
        try archive.store.enter(lifetimes: [snapshots[7].id: 691_800])
        let lost = SegmentHeader(archive: archive.store.manifest.id, segment: .random(), created: .now).segment
        try archive.store.enter(lost: [lost], "golden")
        try archive.store.enter(
            RootNotice(
                rootPath: Array("/moved".utf8), host: "golden", kind: .moved, time: .now, machine: latest.machine,
                newPath: Array("/elsewhere".utf8)))
        try archive.store.enter(
            RootNotice(rootPath: latest.rootPath, host: "golden", kind: .retired, time: .now, machine: latest.machine))
    }

    /// Adds and drops a segment that nothing refers to.
    private func drop(_ archive: Archive) throws {
        let store = archive.store
        var encoder = try BlockEncoder(level: 1)
        let writer = try store.beginCommit()
        for number in 0..<3 {
            var noise: [UInt8] = []
            for step in 0..<1000 { noise += ChunkID(hashing: Array("noise \(number) \(step)".utf8)).bytes }
            let chunk = RawChunk(kind: .content, bytes: noise)
            #expect(try writer.claim(chunk.id))
            try writer.append(encoder.encode([chunk]))
        }
        try writer.commitChunks()
        let records = try store.catalogue.snapshots().map { try store.catalogue.location(of: $0.id.chunk)?.segment }
        let needed = Set(records.compactMap { $0 })
        let unneeded = try #require(
            try store.catalogue.segments().last { $0.state == .sealed && !needed.contains($0.number) })
        var isNeeded = false
        try store.catalogue.forEachBlock(ofSegment: unneeded.number) { _, block in
            isNeeded = isNeeded || block.length < 32_000
        }
        try #require(!isNeeded)
        #expect(try store.catalogue.condemn(unneeded.number))
        try store.enter(dropping: [unneeded])
        try Files("/").remove(store.segments.path(of: unneeded.path))
    }
}
