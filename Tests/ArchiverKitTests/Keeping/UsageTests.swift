// Usage: which roots, paths and states need the bytes of the archive; no byte is counted twice.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit

@Suite("Usage", .blocking) struct UsageTests {
    private let scene: PruneScene
    private let root: ArchivedRoot
    private var archive: Archive { scene.archive }

    init() throws {
        var random = SeededGenerator("usage")
        scene = try PruneScene(segmentBytes: 1 << 20)
        try scene.root.makeDirectory("figures/deep")
        try scene.root.makeDirectory("text")
        let both = random.noise(30_000)
        try scene.root.write("figures/both", both)
        try scene.root.write("text/both", both)
        try scene.root.write("small", "small")
        for _ in 0..<3 {
            try scene.root.write("figures/deep/plot", random.noise(50_000))
            try scene.root.write("text/chapter", random.noise(20_000))
            try scene.capture()
        }
        root = try #require(try scene.archive.roots().first)
    }

    private func usage(in directory: String = "") throws -> ArchiveUsage {
        try archive.usage(by: .path(root: root, directory: #require(RelativePath(directory))))
    }

    private func item(_ owner: ArchiveUsage.Owner, _ usage: ArchiveUsage) throws -> ArchiveUsage.Item {
        try #require(usage.items.first { $0.owner == owner }, "\(usage.items)")
    }

    /// Expects an item of about `bytes`: noise is stored uncompressed, with little overhead.
    private func expect(
        _ item: ArchiveUsage.Item, _ bytes: UInt64, versions: Int, at location: SourceLocation = #_sourceLocation
    ) {
        #expect(
            (bytes...bytes + bytes / 20).contains(item.ownBytes), "\(item)", sourceLocation: location)
        #expect(item.versions == versions, "\(item)", sourceLocation: location)
    }

    @Test("each directory counts the bytes that only it uses, and shared bytes count separately, once")
    func paths() throws {
        let top = try usage()
        expect(try item(.path(RelativePath("figures"), isDirectory: true), top), 150_000, versions: 4)
        expect(try item(.path(RelativePath("text"), isDirectory: true), top), 60_000, versions: 4)
        expect(try item(.shared, top), 30_000, versions: 0)
        #expect(top.items.map(\.ownBytes) == top.items.map(\.ownBytes).sorted(by: >))
        let all = top.items.reduce(0) { $0 + $1.ownBytes } + top.unneededBytes
        let stored = try archive.store.storedBytes()
        #expect(all.distance(to: stored).magnitude < 16, "\(all) of \(stored)")
        let figures = try usage(in: "figures")
        expect(
            try item(.path(RelativePath("figures/deep"), isDirectory: true), figures), 150_000, versions: 3)
        expect(try item(.elsewhere, figures), 60_000, versions: 5)
        let deep = try usage(in: "figures/deep")
        expect(
            try item(.path(RelativePath("figures/deep/plot"), isDirectory: false), deep), 150_000, versions: 3
        )
    }

    @Test("roots and saved states count their own bytes, and forgotten snapshots count as unneeded")
    func roots() throws {
        var random = SeededGenerator("usage of roots")
        try archive.save(random.noise(10_000), as: "noise")
        let before = try archive.usage()
        expect(try item(.root(root), before), 240_000, versions: 9)
        // The noise is encoded as a list of numbers, most of which take two bytes.
        let states = try item(.states, before)
        #expect((10_000...20_000).contains(states.ownBytes) && states.versions == 1, "\(states)")
        #expect(before.unneededBytes < 10_000)
        try scene.thin { _ in false }
        let after = try archive.usage()
        // A part of the first snapshot's block is still needed, so the whole block stays.
        let own = try item(.root(root), after)
        #expect((100_000...180_000).contains(own.ownBytes) && own.versions == 5, "\(own)")
        #expect(after.unneededBytes >= 70_000)
    }

    @Test("usage reports what thinning would free, the archive's growth, and what each day added")
    func growth() throws {
        let usage = try usage()
        #expect(usage.thinning.snapshots == 0 && usage.thinning.bytes < 100)
        #expect(usage.dailyBytes > 240_000 && usage.dailyBytes < 300_000)
        #expect(try #require(usage.daysLeft) > 0)
        let days = try archive.dailyUsage(of: root)
        #expect(days.reduce(0) { $0 + $1.snapshots } == 3 && days.count <= 2)
        #expect(days.reduce(0) { $0 + $1.storedBytes } > 240_000)
        try archive.setBudget(StorageBudget(maxSize: usage.room.usedBytes + 1))
        #expect(try self.usage().daysLeft == 0)
    }
}
