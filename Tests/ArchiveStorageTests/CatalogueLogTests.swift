// The catalogue's write-ahead log: it stays short, and is removed when the last user closes the archive.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("The catalogue's log", .blocking)
struct CatalogueLogTests {
    private func enter(_ count: Int, into store: ArchiveStore, _ round: Int) throws {
        let segment = try #require(try store.catalogue.segments().first)
        let location = BlockLocation(segment: segment.number, offset: 64)
        let chunks = (0..<count).map { (id: ChunkID(hashing: Array("\(round) \($0)".utf8)), location: location) }
        try store.catalogue.enter(segment: segment.number, length: segment.indexedLength, chunks: chunks)
    }

    @Test("the log does not grow with the number of entered rows")
    func staysShort() throws {
        let directory = try TemporaryDirectory()
        let log = directory.path.appending("catalogue.sqlite-wal")
        let store = try ArchiveStore.open(directory.path, creating: true)
        _ = try store.commit(1, [Array("one".utf8)])
        var sizes: [Int] = []
        for round in 0..<60 {
            try enter(200, into: store, round)
            store.catalogue.finishCheckpoints()
            sizes.append(try log.readFile().count)
        }
        // In the worst case each row is in its own page of 4 KiB: 12,000 of them would be 48 MB.
        #expect(try #require(sizes.max()) < 6 << 20, "\(sizes)")
        #expect(try store.catalogue.chunkCount() > 12_000)
    }

    @Test("others can read and write during a checkpoint, and the last one to close leaves no log")
    func leavesNothingBehind() throws {
        let directory = try TemporaryDirectory()
        try withExtendedLifetime(ArchiveStore.open(directory.path, creating: true)) { store in
            _ = try store.commit(1, [Array("one".utf8)])
            // Each thread opens the archive itself and closes it before the thread ends.
            let found = try onThreads(2) { thread in
                let own = try ArchiveStore.open(directory.path, creating: false)
                for round in 0..<30 { try enter(100, into: own, 100 * thread + round) }
                return try own.catalogue.snapshots().count
            }
            #expect(found == [1, 1])
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: directory.path.string)
        #expect(!left.contains { $0.hasSuffix("-wal") || $0.hasSuffix("-shm") }, "\(left)")
        #expect(try ArchiveStore.open(directory.path, creating: false).catalogue.chunkCount() > 6_000)
    }
}
