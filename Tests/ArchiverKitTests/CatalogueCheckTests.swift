// Checks of the catalogue: it must agree with the segments.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit

@Suite("Check and the catalogue", .blocking)
struct CatalogueCheckTests {
    @Test("check finds blocks that differ from the catalogue, and segments that only the catalogue lists as dropped")
    func catalogue() throws {
        for statements in [
            "UPDATE block SET depth = depth + 1;", "DELETE FROM block;", "UPDATE block SET bases = zeroblob(20);",
            "INSERT INTO dropped VALUES (zeroblob(16));",
        ] {
            let sandbox = try Sandbox()
            try sandbox.root.write("file", "content")
            try sandbox.capture()
            #expect(try sandbox.archive.check(data: false).findings == [])
            try Files(sandbox.archive.directory).changeCatalogue(statements)
            let findings = try sandbox.archive.check(data: false).findings
            #expect(!findings.isEmpty, "\(statements)")
            #expect(findings.allSatisfy { $0.remedy == "rebuild the catalogue" }, "\(findings)")
        }
    }

    @Test(
        "check finds labels, pins, notes, policies, deletions and forgotten records that are missing from the catalogue"
    )
    func statements() throws {
        for statements in [
            "DELETE FROM lateLabel;", "DELETE FROM pin;", "DELETE FROM note;", "DELETE FROM policy;",
            "DELETE FROM forgotten;", "DELETE FROM deletion;", "UPDATE deletion SET lifetime = 4;",
            "UPDATE forgotten SET seconds = 5;", "UPDATE pin SET seconds = 5;", "UPDATE pin SET sequence = 0;",
            "INSERT INTO forgotten SELECT id, 1, 9, 0, 0, 0, 0 FROM snapshot; DELETE FROM snapshot;",
        ] {
            let sandbox = try Sandbox()
            var snapshots: [ListedSnapshot] = []
            for number in 0..<3 {
                try sandbox.root.write("file", "content \(number)")
                snapshots.append(try sandbox.capture())
            }
            let archive = sandbox.archive
            try archive.label(.snapshot(snapshots[0]), as: "label")
            try archive.pin(.snapshot(snapshots[0]))
            try archive.note("note", about: snapshots[0].root)
            try archive.store.enter(PolicyRecord(time: .now, maxSize: 1 << 40))
            try archive.store.enter(lifetimes: [snapshots[0].id: 5])
            try archive.forget([.snapshot(snapshots[1])])
            #expect(try archive.check(data: false).findings == [])
            try Files(archive.directory).changeCatalogue(statements)
            let findings = try archive.check(data: false).findings
            #expect(!findings.isEmpty, "\(statements)")
            #expect(findings.allSatisfy { $0.remedy == "rebuild the catalogue" }, "\(findings)")
        }
    }

    @Test(
        "a check of all bytes finds a changed byte in the footer of a sealed segment",
        arguments: [10, 60, 95, 130])
    func footer(fromEnd: Int) throws {
        let base = Files(try TemporaryDirectory.create())
        try base.makeDirectory("archive")
        let parameters = ArchiveManifest.Parameters(segmentBytes: 300)
        let manifest = ArchiveManifest(id: .random(), created: .now, parameters: parameters)
        try base.write("archive/archive.json", manifest.encoded())
        let sandbox = try Sandbox(in: base.directory)
        try sandbox.root.write("file", "content")
        try sandbox.capture()
        let segment = try #require(
            try sandbox.archive.store.catalogue.segments().first { $0.state == .sealed })
        let path = sandbox.archive.store.segments.path(of: segment.path)
        let bytes = try Files("/").read(path)
        try Files("/").write(path, [bytes[bytes.count - fromEnd] ^ 1], at: bytes.count - fromEnd)
        let result = try sandbox.archive.check(data: true)
        #expect(result.findingCount >= 1 && result.goodSnapshots == 1, "\(result.findings)")
    }

    @Test("a dropped segment is not damage, but a missing one is", arguments: [false, true])
    func dropped(isOnRecord: Bool) throws {
        let base = Files(try TemporaryDirectory.create())
        try base.makeDirectory("archive")
        let parameters = ArchiveManifest.Parameters(segmentBytes: SegmentHeader.byteCount + 1)
        let manifest = ArchiveManifest(id: .random(), created: .now, parameters: parameters)
        try base.write("archive/archive.json", manifest.encoded())
        let sandbox = try Sandbox(in: base.directory)
        try sandbox.root.write("file", "content")
        try sandbox.capture()
        // A segment of its own, with a chunk that nothing refers to.
        let store = sandbox.archive.store
        let chunk = RawChunk(kind: .content, bytes: Array("not needed".utf8))
        let writer = try store.beginCommit()
        #expect(try writer.claim(chunk.id))
        var encoder = try BlockEncoder(level: 1)
        try writer.append(encoder.encode([chunk]))
        try writer.commitChunks()
        let place = try #require(try store.catalogue.location(of: chunk.id))
        let record = try #require(try store.catalogue.segment(place.segment))
        #expect(try store.catalogue.condemn(record.number))
        if isOnRecord { try store.enter(dropping: [record]) }
        try Files("/").remove(store.segments.path(of: record.path))
        let archive = try sandbox.reopened()
        #expect(archive.store.findings.map(\.kind) == (isOnRecord ? [] : [.damage]))
        let result = try archive.check(data: true)
        #expect(result.findings.isEmpty && result.goodSnapshots == 1, "\(result.findings)")
    }

    @Test("check finds a forged index that differs from its blocks, although all its checksums are right")
    func forgedIndex() throws {
        let base = Files(try TemporaryDirectory.create())
        try base.makeDirectory("archive")
        let parameters = ArchiveManifest.Parameters(segmentBytes: SegmentHeader.byteCount + 1)
        let manifest = ArchiveManifest(id: .random(), created: .now, parameters: parameters)
        try base.write("archive/archive.json", manifest.encoded())
        let sandbox = try Sandbox(in: base.directory)
        try sandbox.root.write("file", "content")
        try sandbox.capture()
        let store = sandbox.archive.store
        let row = try #require(try store.catalogue.segments().first { $0.isSealed })
        let segment = try store.open(row)
        var blocks = try #require(try segment.index())
        let old = try #require(blocks.last)
        blocks.removeLast()
        let chunks = old.header.chunks.map {
            BlockHeader.Chunk(kind: .content, length: $0.length, id: ChunkID(hashing: [7]))
        }
        let forged = BlockHeader(
            codec: old.header.codec, depth: old.header.depth, storedLength: old.header.storedLength,
            payloadChecksum: old.header.payloadChecksum, bases: old.header.bases, chunks: chunks)
        let path = store.segments.path(of: row.path)
        let whole = try Files("/").read(path)
        let end = try #require(try segment.trailer()).indexOffset
        var hash = SegmentHash()
        hash.update(Array(whole[..<end]))
        var encoder = SegmentFooter.Encoder(in: segment.origin, content: hash)
        var footer: [UInt8] = []
        for header in blocks.map(\.header) + [forged] { encoder.append(header, to: &footer) }
        encoder.appendTrailer(to: &footer)
        try Files("/").write(path, whole[..<end] + footer)
        let findings = try sandbox.reopened().check(data: true).findings
        #expect(findings.contains { $0.message.contains("differs from its blocks") }, "\(findings)")
    }

    @Test("a catalogue with impossible lengths of blocks is reported by prune and usage as damaged")
    func impossibleLengths() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "content")
        try sandbox.capture()
        for length in [Int64.max, 0, -1] {
            try Files(sandbox.archive.directory).changeCatalogue("UPDATE block SET length = \(length);")
            ArchiverError.expect(.damaged) { _ = try sandbox.archive.prune(grace: .zero) }
            ArchiverError.expect(.damaged) { _ = try sandbox.archive.usage() }
        }
    }

    @Test("check finds a chunk that the catalogue lists at a wrong place, whatever it holds, and no restore needs luck")
    func wrongPlace() throws {
        let sandbox = try Sandbox()
        for number in 0..<3 {
            try sandbox.root.write("file", (0..<200).map { "line \($0 * number)\n" }.joined())
            try sandbox.capture()
        }
        let count = try sandbox.archive.store.catalogue.chunkCount()
        #expect(count > 6)
        let files = Files(sandbox.archive.directory)
        for index in 0..<count {
            let chunk = "id = (SELECT id FROM chunk ORDER BY id LIMIT 1 OFFSET \(index))"
            try files.changeCatalogue("UPDATE chunk SET location = location + 1 WHERE \(chunk)")
            for data in [CheckedData.none, .all] {
                let findings = try sandbox.reopened().check(data: data).findings
                #expect(findings.contains { $0.message.contains("is not where the catalogue says") }, "\(findings)")
            }
            try files.changeCatalogue("UPDATE chunk SET location = location - 1 WHERE \(chunk)")
        }
        #expect(try sandbox.reopened().check(data: true).findings == [])
    }

    @Test("after a killed prune, check indexes the condemned segments again and finds nothing")
    func killedPrune() throws {
        let sandbox = try Sandbox()
        var random = SeededGenerator("killed prunes")
        for number in 0..<3 {
            try sandbox.root.write("file", "content \(number)")
            try sandbox.root.write("noise", random.noise(20_000))
            try sandbox.capture()
        }
        let store = sandbox.archive.store
        store.releaseWriters()
        let segment = try #require(try store.catalogue.segments().first)
        #expect(try store.seal(segment) && store.catalogue.condemn(segment.number))
        // A prune removes the rows of a condemned segment step by step.
        try Files(sandbox.archive.directory).changeCatalogue(
            "DELETE FROM chunk WHERE id IN (SELECT id FROM chunk LIMIT 3); DELETE FROM block;")
        let result = try sandbox.archive.check(data: true)
        #expect(result.findings == [] && result.goodSnapshots == 3, "\(result.findings)")
    }
}
