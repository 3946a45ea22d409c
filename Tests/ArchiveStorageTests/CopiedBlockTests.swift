// Blocks inside the contents of files: a scan must not treat them as blocks of the archive.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Block copies inside content", .blocking)
struct CopiedBlockTests {
    @Test("a segment inside a file's content is never read as blocks, even after damage")
    func foreignSegment() throws {
        var random = SeededGenerator()
        let other = try TemporaryDirectory()
        let foreign = try ArchiveStore.open(other.path, creating: true).commit(7, [random.noise(300)])
        let copy = try onlySegment(in: other.path).readFile()

        let directory = try TemporaryDirectory()
        let kept = try fill(directory, with: copy, using: &random)
        let summary = try ArchiveStore.rebuildCatalogue(of: directory.path)
        #expect(summary.damage.count == 2, "\(summary.damage)")
        let reopened = try ArchiveStore.open(directory.path, creating: false)
        #expect(try !reopened.catalogue.hasSnapshot(foreign.id), "TEST_SEED=\(random.seed)")
        #expect(try reopened.catalogue.snapshots().count == 4)
        #expect(try kept.allSatisfy { try reopened.holds($0) })
    }

    /// Commits four snapshots; the two in the middle contain `copy` and a copy of the segment so far, in damaged
    /// blocks.
    ///
    /// - Returns: the undamaged snapshots.
    private func fill(
        _ directory: borrowing TemporaryDirectory, with copy: [UInt8], using random: inout SeededGenerator
    ) throws -> [Commit] {
        let store = try ArchiveStore.open(directory.path, creating: true)
        let first = try store.commit(1, [random.noise(300)])
        // With noise around it, the block is stored uncompressed.
        let second = try store.commit(2, [random.noise(50_000) + copy + random.noise(50_000)])
        let own = try onlySegment(in: directory.path)
        let third = try store.commit(3, [try own.readFile() + random.noise(20_000)])
        let fourth = try store.commit(4, [random.noise(10)])
        for commit in [second, third] {
            let id = try #require(commit.chunks.first { $0.value.count > 20_000 }?.key)
            let place = try #require(try store.catalogue.location(of: id))
            try own.flipByte(at: place.offset + 1)
        }
        return [first, fourth]
    }
}
