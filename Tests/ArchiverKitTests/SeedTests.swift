// Archives with seeds in their parameters: only the cuts in files and trees differ.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit

@Suite("Seeds of an archive", .blocking)
struct SeedTests {
    private func sandbox(_ seed: UInt64) throws -> Sandbox {
        let base = Files(try TemporaryDirectory.create())
        try base.makeDirectory("archive")
        let parameters = ArchiveManifest.Parameters(chunkingSeed: .init(seed), treeSeed: .init(seed))
        let manifest = ArchiveManifest(id: .random(), created: .now, parameters: parameters)
        try base.write("archive/archive.json", manifest.encoded())
        return try Sandbox(in: base.directory)
    }

    /// A large file, many small ones, and a saved state.
    private func fill(_ root: Files) throws {
        var random = SeededGenerator("seeds of an archive")
        try root.write("large", random.noise(1 << 20))
        for number in 0..<300 { try root.write("\(number)", "file \(number)") }
    }

    /// The lengths of the large file's slices and the leaves' numbers of entries.
    private func cuts(_ snapshot: ListedSnapshot, in archive: Archive) throws -> (slices: [UInt64], leaves: [Int]) {
        var slices: [UInt64] = []
        try archive.forEachEntry(in: snapshot) { entry in
            if case .slices(let own) = entry.content { slices = own.map(\.length) }
            return true
        }
        var leaves: [Int] = []
        func visit(_ id: ChunkID) throws {
            switch try Node(decoding: archive.store.read(id)) {
            case .leaf(let entries): leaves.append(entries.count)
            case .inner(_, let children): for child in children { try visit(child.id) }
            }
        }
        try visit(snapshot.tree)
        return (slices, leaves)
    }

    @Test("other seeds cut files and trees elsewhere, and everything is restored")
    func seeds() throws {
        var found: [(slices: [UInt64], leaves: [Int])] = []
        for seed in [0, 1, 1 << 63] as [UInt64] {
            let sandbox = try sandbox(seed)
            try fill(sandbox.root)
            let first = try sandbox.capture()
            found.append(try cuts(first, in: sandbox.archive))
            let wanted = try TreeListing(of: sandbox.root.directory)
            try sandbox.restored(first).expect(equals: wanted, "seed \(seed)")
            try sandbox.root.write("150", "changed")
            let second = try sandbox.capture()
            #expect(second.changes == ChangeCounts(added: 0, modified: 1, removed: 0))
            #expect(try sandbox.archive.check(data: true).findings == [])
        }
        #expect(Set(found.map(\.slices)).count == 3 && Set(found.map(\.leaves)).count == 3)
        #expect(found.allSatisfy { $0.slices.reduce(0, +) == 1 << 20 && $0.leaves.reduce(0, +) == 302 })
    }

    @Test("if archive.json is damaged, repair brings its seeds back from the segments")
    func lost() throws {
        let sandbox = try sandbox(7)
        try fill(sandbox.root)
        let first = try sandbox.capture()
        let wanted = try TreeListing(of: sandbox.root.directory)
        let copy = sandbox.base.full("copy")
        _ = system("cp -a '\(sandbox.archive.directory)' '\(copy)'; echo > '\(copy)/archive.json'")
        _ = try Archive.repairCatalogue(of: copy)
        let mended = try Archive.open(copy)
        #expect(mended.store.manifest.parameters.treeSeed == .init(7))
        try sandbox.root.write("150", "changed")
        let second = try #require(try mended.capture(sandbox.root.directory).snapshot)
        #expect(second.changes == ChangeCounts(added: 0, modified: 1, removed: 0))
        let target = sandbox.base.full("target")
        _ = try mended.restore(first, RestoreOptions(target: target))
        try TreeListing(of: target).expect(equals: wanted, "the earlier snapshot")
        #expect(try mended.check(data: true).findings == [])
    }
}
