// The limits of the format hold for writers: what readers would refuse is never announced.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Limits of writers", .blocking)
struct WriterLimitTests {
    @Test("a chunk of more bytes than a block may have is refused by its size, not stored")
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

    @Test("snapshots are forgotten however many they are, also for a catalogue made anew")
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
            // More than one chunk may tell of.
            let scan = try SegmentScan(
                of: Segment(LocalSegment(at: onlySegment(in: directory.path))), from: SegmentHeader.byteCount,
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
    /// An id of its own for each number.
    fileprivate init(numbered number: Int) {
        var bytes = [UInt8](repeating: 0, count: 32)
        let spread = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
        for index in 0..<8 { bytes[index] = UInt8(truncatingIfNeeded: spread >> UInt64(8 * index)) }
        self = bytes.withUnsafeBytes { ChunkID(exactly: $0) }
    }
}
