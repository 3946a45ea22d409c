// Records with valid checksums that cannot be decoded: every opening reports them.

import ArchiveFormat
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiveStorage

@Suite("Undecodable records", .blocking)
struct UndecodableRecordTests {
    @Test(
        "every opening reports an undecodable record, until a rebuild of the catalogue moves it into salvage",
        arguments: RecordKind.all.map(\.kind))
    func named(kind: ChunkKind) throws {
        let directory = try TemporaryDirectory()
        var expected: Commit?
        do {
            let store = try ArchiveStore.open(directory.path, creating: true)
            expected = try store.commit(1, [Array("content".utf8)])
            let writer = try store.beginCommit()
            var encoder = try BlockEncoder(level: 1)
            try writer.append(encoder.encode([RawChunk(kind: kind, bytes: [0xFF, 1, 2])]))
            try writer.commitChunks()
        }
        for suffix in ["", "-wal", "-shm"] { try? directory.path.appending("catalogue.sqlite" + suffix).removeFile() }
        for _ in 0..<2 {
            let store = try ArchiveStore.open(directory.path, creating: false)
            #expect(store.findings.contains { $0.kind == .damage }, "\(store.findings)")
            #expect(store.findings.contains { $0.kind == .lostSnapshot } == (kind == .snapshot), "\(store.findings)")
            #expect(try store.holds(#require(expected)))
        }
        let repair = try ArchiveStore.rebuildCatalogue(of: directory.path)
        #expect(repair.moved.count == 1 && repair.damage.isEmpty && repair.unread.isEmpty, "\(repair)")
        let salvaged = try directory.path.appending("salvage").filesBelow()
        #expect(salvaged.count == 1)
        #expect(try directory.path.appending("salvage").appending(salvaged[0]).readFile() == [0xFF, 1, 2])
        #expect(try ArchiveStore.rebuildCatalogue(of: directory.path).moved.isEmpty)
        let store = try ArchiveStore.open(directory.path, creating: false)
        #expect(store.findings.isEmpty, "\(store.findings)")
        #expect(try store.holds(#require(expected)))
    }
}
