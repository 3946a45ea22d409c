// Archives changed at random, with and without correct checksums: nothing crashes, and nothing wrong is restored.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Mutated archives", .blocking)
struct MutatedArchiveTests {
    /// The number of mutations; `make mutations` sets MUTATIONS.
    private static let count =
        ProcessInfo.processInfo.environment["MUTATIONS"].flatMap { Int($0) } ?? (isThorough ? 300 : 100)

    @Test("after any change to a segment's bytes, a restore without warnings equals the capture")
    func segments() throws {
        let original = try MutationSubject()
        let seeds = SeededGenerator("Mutated segments")
        for number in 0..<Self.count {
            var random = SeededGenerator(seed: seeds.seed &+ UInt64(number))
            let bytes = BytesMutation.mutated(original.segment, &random)
            try original.expectPromise(of: bytes, "TEST_SEED=\(random.seed)")
        }
    }

    @Test("after any change to its chunks, an archive that passes check can be restored")
    func values() throws {
        let seeds = SeededGenerator("Mutated values")
        for number in 0..<Self.count {
            let seed = seeds.seed &+ UInt64(number)
            let forged = ForgedArchive("seed \(seed)") { forgery in
                var random = SeededGenerator(seed: seed)
                let kinds = ForgedArchive.right.count
                forgery.change = (random.below(8), { ValueMutation.mutated($0, &random) })
                try ForgedArchive.right[random.below(kinds)].write(forgery)
            }
            let sandbox = try ForgedSandbox(forged, inMemory: true)
            try expectPromise(sandbox, "TEST_SEED=\(seed)")
        }
    }

    private func expectPromise(_ sandbox: ForgedSandbox, _ about: Comment) throws {
        let archive = try sandbox.open()
        let isClean = try archive.check(data: true).findings.isEmpty
        for snapshot in try archive.snapshots() {
            let target = sandbox.base.full("target")
            do {
                let result = try archive.restore(snapshot, RestoreOptions(target: target))
                if isClean { #expect(result.warnings == [], about) }
            } catch {
                #expect(!isClean, "\(about): \(error)")
            }
            try? Files(target).removeAll()
        }
    }
}

/// A real archive with one segment, and the expected trees of its snapshots.
struct MutationSubject {
    let segment: [UInt8]
    private let name: FilePath
    private let manifest: [UInt8]
    private let base: Files
    private let listings: [SnapshotID: TreeListing]
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory(inMemory: true)
        base = Files(directory.path)
        try base.makeDirectory("root/directory")
        let root = Files(base.full("root"))
        let archive = try Archive.open(base.full("archive"), creating: true)
        var random = SeededGenerator(seed: 1)
        try root.write("large", random.noise(200_000))
        try root.makeSymbolicLink("link", to: "large")
        var listings: [SnapshotID: TreeListing] = [:]
        var text = random.text(3_000)
        for number in 0..<4 {
            try root.write("directory/text", text)
            try root.write("directory/small-\(number)", "file \(number)")
            let snapshot = try archive.capture(root.directory).snapshot
            if let snapshot { listings[snapshot.id] = try TreeListing(of: root.directory) }
            text[random.below(text.count)] ^= 1
        }
        self.listings = listings
        let paths = try Files(base.full("archive")).segments()
        let path = try #require(paths.first)
        segment = try Files("/").read(path)
        manifest = try base.read("archive/archive.json")
        name = FilePath(String(path.string.dropFirst(base.full("archive").string.count + 1)))
    }

    /// Expects that restores without warnings from an archive with this segment equal the captured trees.
    func expectPromise(of bytes: [UInt8], _ about: Comment) throws {
        let copy = Files(base.full("copy"))
        try? copy.removeAll()
        try base.makeDirectory("copy/locks")
        try copy.makeDirectory(name.removingLastComponent())
        try copy.write("archive.json", manifest)
        try copy.write(name, bytes)
        let archive = try Archive.open(copy.directory)
        let isClean = try archive.check(data: true).findings.isEmpty
        for snapshot in try archive.snapshots() {
            let target = base.full("target")
            do {
                let result = try archive.restore(snapshot, RestoreOptions(target: target))
                if let listing = listings[snapshot.id], result.warnings.isEmpty {
                    try TreeListing(of: target).expect(equals: listing, "\(about)")
                }
            } catch {
                #expect(!isClean, "\(about): \(error)")
            }
            try? Files(target).removeAll()
        }
    }
}
