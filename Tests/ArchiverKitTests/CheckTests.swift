// Checks of an archive: damage is reported by name, and everything intact stays usable.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Glibc
import SnapshotTree
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit
@testable import Checking

@Suite(.blocking) struct CheckTests {
    /// Two snapshots of different files; then a bit in the content of the first one is flipped.
    @Test("check names the damage, and the rest stays usable")
    func damage() throws {
        let sandbox = try Sandbox()
        var random = SeededGenerator("check names the damage, and the rest stays usable")
        let first = random.noise(50_000)
        try sandbox.root.write("first", first)
        let damaged = try sandbox.capture()
        try sandbox.root.remove("first")
        try sandbox.root.write("second", random.noise(50_000))
        let wanted = try TreeListing(of: sandbox.root.directory)
        let whole = try sandbox.capture()
        let segments = try Files(sandbox.archive.directory).segments()
        let segment = try #require(
            try segments.first { try Files("/").read($0).firstRange(of: first[20_000..<20_032]) != nil })
        var bytes = try Files("/").read(segment)
        let place = try #require(bytes.firstRange(of: first[20_000..<20_032])?.lowerBound)
        bytes[place] ^= 1
        try Files("/").write(segment, [bytes[place]], at: place)

        let archive = try sandbox.reopened()
        let result = try archive.check(data: true)
        #expect(result.snapshots == 2)
        #expect(result.goodSnapshots == 1)
        #expect(result.findings.contains { $0.message.contains(segment.lastComponent?.string ?? "-") })
        #expect(result.findings.contains { $0.message.contains(damaged.id.short) && $0.message.contains("first") })
        #expect(!result.findings.contains { $0.message.contains(whole.id.short) })
        let target = sandbox.base.full("target")
        _ = try archive.restore(whole, RestoreOptions(target: target))
        try TreeListing(of: target).expect(equals: wanted, "the whole snapshot")
        let outcome = try archive.restore(damaged, RestoreOptions(target: sandbox.base.full("other")))
        #expect(outcome.hasDamage && !outcome.isComplete)
        #expect(outcome.problems.map(\.path.description) == ["first"])
        #expect(outcome.problems.first?.message.contains(segment.lastComponent?.string ?? "-") == true)
    }

    @Test(
        "eight checks of a part verify every byte, each those verified the longest ago, and the status tells what is known"
    )
    func parts() throws {
        let base = Files(try TemporaryDirectory.create())
        try base.makeDirectory("archive")
        let parameters = ArchiveManifest.Parameters(segmentBytes: 10_000)
        let manifest = ArchiveManifest(id: .random(), created: .now, parameters: parameters)
        try base.write("archive/archive.json", manifest.encoded())
        let sandbox = try Sandbox(in: base.directory)
        var random = SeededGenerator("eight checks of a part")
        var contents: [[UInt8]] = []
        for number in 0..<16 {
            contents.append(random.noise(20_000))
            try sandbox.root.write(FilePath("file\(number)"), contents[number])
            try sandbox.capture()
        }
        let archive = try sandbox.reopened()
        #expect(try archive.status().lastCheck == nil)
        let total = try archive.check(data: .none).segments
        var counts: [Int] = []
        for _ in 1...8 {
            #expect(try archive.check(data: .part).findings == [])
            let notice = try #require(try archive.status().lastCheck)
            counts.append(notice.verified.count)
            #expect(notice.findingCount == 0 && (notice.verifiedSince != nil) == (counts.last == total), "\(counts)")
        }
        #expect(counts.last == total)
        #expect(zip(counts, counts.dropFirst()).allSatisfy { $0 < $1 || $0 == total }, "\(counts) of \(total)")
        // A bit that is flipped now is found by the check whose turn it is, and not by those before.
        let file = random.below(16)
        let segment = try #require(
            try Files(archive.directory).segments().first {
                try Files("/").read($0).firstRange(of: contents[file][10_000..<10_032]) != nil
            })
        let range = try #require(try Files("/").read(segment).firstRange(of: contents[file][10_000..<10_032]))
        try Files("/").write(segment, [contents[file][10_000] ^ 1], at: range.lowerBound)
        let faults = try (0..<8).map { _ in try archive.check(data: .part).findingCount }
        let turn = try #require(faults.firstIndex { $0 > 0 })
        #expect(faults[turn...].allSatisfy { $0 > 0 }, "\(faults)")
        let status = try archive.status()
        #expect(status.isDamaged && !status.isWell)
        #expect(status.findings.contains { $0.message.contains("the last check of the archive") })
        // What is lost is stored again, and the next check finds nothing.
        _ = try archive.capture(sandbox.root.directory)
        #expect(try archive.check(data: true).findings == [])
        #expect(try !archive.status().isDamaged)
        // Bytes that were added since are not verified.
        #expect(try archive.status().lastCheck?.verifiedSince != nil)
        try sandbox.root.write("little", "x")
        try sandbox.capture()
        #expect(try archive.check(data: false).findings == [])
        #expect(try archive.status().lastCheck?.verifiedSince == nil)
    }

    @Test("a restore in place of damaged content does not touch the present file")
    func damageInPlace() throws {
        let sandbox = try Sandbox()
        var random = SeededGenerator("a restore in place of damaged content")
        let content = random.noise(50_000)
        try sandbox.root.write("file", content)
        let snapshot = try sandbox.capture()
        for segment in try Files(sandbox.archive.directory).segments() {
            guard let range = try Files("/").read(segment).firstRange(of: content[20_000..<20_032]) else { continue }
            try Files("/").write(segment, [content[20_000] ^ 0xFF], at: range.lowerBound)
        }
        try sandbox.root.write("file", "present")
        let archive = try sandbox.reopened()
        let outcome = try archive.restore(snapshot)
        #expect(outcome.hasDamage && outcome.problems.map(\.path.description) == ["file"])
        #expect(try sandbox.root.read("file") == Array("present".utf8))
        #expect(try sandbox.root.names() == ["file"])
    }

    @Test("a rebuilt catalogue lists the same snapshots")
    func rebuiltCatalogue() throws {
        let sandbox = try Sandbox()
        for number in 0..<5 {
            try sandbox.root.write("\(number)", "file \(number)")
            try sandbox.capture(label: "\(number)")
        }
        let before = try sandbox.archive.snapshots()
        // Use a copy, as the archive is open here.
        _ = system(
            "cp -a '\(sandbox.archive.directory)' '\(sandbox.base.full("copy"))'; rm '\(sandbox.base.full("copy"))'/catalogue*"
        )
        let repair = try Archive.repairCatalogue(of: sandbox.base.full("copy"))
        #expect(repair.snapshots == 5)
        #expect(repair.findings == [])
        let copy = try Archive.open(sandbox.base.full("copy"))
        #expect(try copy.snapshots() == before)
        #expect(try copy.check(data: true).findings == [])
    }

    @Test("check reports files that are no segments as warnings, and several files of one segment as findings")
    func otherFiles() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "content")
        try sandbox.capture()
        sandbox.archive.store.releaseWriters()
        let files = Files(sandbox.archive.directory)
        let segment = try #require(try files.segments().first)
        try files.write("segments/.DS_Store", "x")
        let archive = try sandbox.reopened()
        let result = try archive.check(data: true)
        #expect(result.findings == [] && result.warnings.count == 1 && result.warnings[0].contains(".DS_Store"))
        #expect(try !archive.status().findings.contains { $0.message.contains(".DS_Store") })
        try files.makeDirectory("segments/nested")
        try Files("/").write(
            sandbox.archive.directory.appending("segments/nested").appending(try #require(segment.lastComponent)),
            Files("/").read(segment))
        let findings = try sandbox.reopened().check(data: true).findings
        #expect(findings.count == 1 && findings[0].message.contains("has the same id"), "\(findings)")
    }

    @Test("a label given or a snapshot forgotten after the catalogue was listed is no finding")
    func labelledMeanwhile() throws {
        let sandbox = try Sandbox()
        var snapshots: [ListedSnapshot] = []
        for number in 0..<3 {
            try sandbox.root.write("file", "content \(number)")
            snapshots.append(try sandbox.capture())
        }
        let store = sandbox.archive.store
        let report = CheckReport()
        let found = try SegmentCheck.run(store, reading: .none, report, nil)
        let contents = ContentCheck(store, found.chunks)
        let trees = TreeCheck(store, StoredNodes(store), contents, latest: [], report)
        try sandbox.archive.label(.snapshot(snapshots[0]), as: "label")
        try sandbox.archive.forget([.snapshot(snapshots[1])])
        for snapshot in snapshots { try trees.check(snapshot) }
        #expect(report.result.findings == [])
    }
}

extension Files {
    /// The archive's segments, by absolute path.
    func segments() throws -> [FilePath] {
        var found: [FilePath] = []
        func list(_ directory: FilePath) throws {
            for name in try Files(directory).names() {
                let path = directory.appending(name)
                if name.hasSuffix(".segment") { found.append(path) } else { try list(path) }
            }
        }
        try list(full("segments"))
        return found
    }
}
