// Writers respect the limits of the format: nothing is stored that readers would reject.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Limits of writers", .blocking)
struct WriterLimitTests {
    @Test("a chunk that is too large for a block is refused, and the error names its size")
    func largeChunk() throws {
        let directory = try TemporaryDirectory()
        let store = try ArchiveStore.open(directory.path, creating: true)
        let largest = RawChunk(kind: .content, bytes: .init(repeating: 7, count: 16 << 20))
        #expect(try store.encode([largest], level: 1).header.rawLength == 16 << 20)
        let large = RawChunk(kind: .content, bytes: .init(repeating: 7, count: 16 << 20 | 1))
        let error = try #require(try failure { try store.encode([large], level: 1) })
        #expect(error.message.contains("16777217 bytes"), "\(error.message)")
        #expect(error.remedy != nil)
    }

    @Test("any number of snapshots can be forgotten, also for a rebuilt catalogue")
    func manyForgotten() throws {
        let directory = try TemporaryDirectory()
        let commits = try { () throws -> [Commit] in
            let store = try ArchiveStore.open(directory.path, creating: true)
            let commits = try (1...3).map { try store.commit($0, []) }
            var ids = Set((0..<66_000).map { ChunkID(numbered: $0) })
            ids.insert(commits[0].id.chunk)
            ids.insert(commits[2].id.chunk)
            try store.forget(ids)
            #expect(try store.catalogue.snapshots().map(\.id) == [commits[1].id])
            // More ids than one record may hold.
            let scan = try SegmentScan(
                of: Segment(LocalSegment(at: EnclosedPath(file: onlySegment(in: directory.path)))),
                from: SegmentHeader.byteCount,
                verifyingPayloads: true, passingDamage: false)
            #expect(scan.records.count { $0.kind == .forgotten } == 2)
            return commits
        }()
        _ = try ArchiveStore.rebuildCatalogue(of: directory.path)
        let reopened = try ArchiveStore.open(directory.path, creating: false)
        #expect(try reopened.catalogue.snapshots().map(\.id) == [commits[1].id])
    }
}

extension ChunkID {
    /// A distinct id for each number.
    fileprivate init(numbered number: Int) {
        var bytes = [UInt8](repeating: 0, count: 32)
        let spread = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
        for index in 0..<8 { bytes[index] = UInt8(truncatingIfNeeded: spread >> UInt64(8 * index)) }
        self = bytes.withUnsafeBytes { ChunkID(exactly: $0) }
    }
}
