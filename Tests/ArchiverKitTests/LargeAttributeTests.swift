// Extended attributes whose values are too large for an entry.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit

@Suite("Large extended attributes", .blocking)
struct LargeAttributeTests {
    private let sandbox: Sandbox
    private var root: Files { sandbox.root }

    init() throws { sandbox = try Sandbox() }

    private func value(of name: String, at path: String, in snapshot: ListedSnapshot) throws -> Content? {
        let entry = try sandbox.archive.entry(at: .at(FilePath(path)), in: snapshot)
        return entry?.attributes.first { $0.name == Array(name.utf8) }?.value
    }

    @Test("a large value is stored once, and after a change only as a difference")
    func sharing() throws {
        var random = SeededGenerator("large attributes")
        var value = random.noise(3000)
        for number in 0..<50 {
            try root.write("file\(number)", random.noise(20))
            try root.setAttribute("file\(number)", "user.large", value)
        }
        try root.makeDirectory("directory")
        try root.setAttribute("directory", "user.large", value)
        try root.setAttribute("directory", "user.small", Array(value[..<512]))
        let first = try sandbox.capture()
        let stored = Content.slices([Slice(length: 3000, chunk: ChunkID(hashing: value))])
        for path in ["file0", "file49", "directory"] {
            #expect(try self.value(of: "user.large", at: path, in: first) == stored)
        }
        #expect(try self.value(of: "user.small", at: "directory", in: first) == .inline(Array(value[..<512])))
        try sandbox.restored(first).expect(equals: TreeListing(of: root.directory), "first")

        try root.write("file7", "changed")
        #expect(try sandbox.capture().storedBytes < 1500)
        value[1700] ^= 1
        try root.setAttribute("file7", "user.large", value)
        let last = try sandbox.capture()
        #expect(last.storedBytes < 1500)
        #expect(try self.value(of: "user.large", at: "file7", in: last) != stored)
        try sandbox.restored(last).expect(equals: TreeListing(of: root.directory), "last")
        let entry = try #require(try sandbox.archive.entry(at: .at("file7"), in: last))
        let wanted = [ExtendedAttribute(name: Array("user.large".utf8), value: value)]
        #expect(try sandbox.archive.attributes(of: entry) == wanted)
    }

    @Test("a hole is kept even if the attributes take as many blocks")
    func hole() throws {
        try root.write("file", Array("end".utf8), at: 4096)
        try root.setAttribute("file", "user.large", [UInt8](repeating: 1, count: 1500))
        let wanted = try TreeListing(of: root.directory)
        #expect(wanted.objects["file"]?.dataRanges == [4096..<4099])
        try sandbox.restored(sandbox.capture()).expect(equals: wanted, "with a hole")
    }

    @Test("a prune keeps the values that snapshots need and removes the others, and usage counts them")
    func pruning() throws {
        var random = SeededGenerator("pruned attributes")
        let scene = try PruneScene()
        let (old, new) = (random.noise(3000), random.noise(3000))
        try scene.root.write("file", "inline")
        try scene.root.setAttribute("file", "user.large", old)
        try scene.root.write("filler", random.noise(60_000))
        try scene.capture()
        try scene.root.setAttribute("file", "user.large", new)
        try scene.root.remove("filler")
        try scene.root.write("other", random.noise(60_000))
        try scene.capture()
        // The new value is in a segment of which nothing else is needed: it has to be copied.
        try scene.root.remove("other")
        try scene.capture()
        try scene.forget(at: 0)
        try scene.forget(at: 0)
        _ = try scene.archive.prune(grace: .zero)
        #expect(try scene.store.catalogue.location(of: ChunkID(hashing: old)) == nil)
        #expect(try scene.store.catalogue.location(of: ChunkID(hashing: new)) != nil)
        #expect(try scene.archive.check(data: true).findings.isEmpty)
        try scene.expectAllKept()

        let root = ArchivedRoot(here: scene.root.directory)
        let usage = try scene.archive.usage(by: .path(root: root, directory: .root))
        let owner = ArchiveUsage.Owner.path(try .at("file"), isDirectory: false)
        let item = try #require(usage.items.first { $0.owner == owner })
        #expect(item.ownBytes >= 3000 && item.versions == 1, "\(item)")
    }

    @Test("a lost value is named by check and restore, and everything else is restored")
    func lost() throws {
        var random = SeededGenerator("lost attributes")
        try root.write("file", "inline")
        try root.setAttribute("file", "user.large", random.noise(3000))
        try root.setAttribute("file", "user.small", [1, 2])
        let snapshot = try sandbox.capture()
        let count = try HealingTests.damage(sandbox.archive.directory, .payload) { header in
            header.chunks.contains { $0.kind == .content }
        }
        #expect(count == 1)
        let archive = try sandbox.reopened()
        let check = try archive.check(data: true)
        #expect(check.findings.contains { $0.message.contains("the attribute user.large of file is partly lost") })

        let target = sandbox.base.full("target")
        let result = try archive.restore(snapshot, RestoreOptions(target: target))
        #expect(result.hasDamage)
        #expect(result.problems.map(\.path) == [try .at("file")])
        let beginning = "the attribute user.large of file cannot be restored"
        #expect(result.problems.allSatisfy { $0.message.hasPrefix(beginning) })
        #expect(try Files(target).read("file") == Array("inline".utf8))
        var listing = try TreeListing(of: root.directory)
        listing.objects["file"]?.attributes["user.large"] = nil
        try TreeListing(of: target).expect(equals: listing, "all but the lost value")
    }

    @Test("an object with the most attributes that Linux can list fits into an entry")
    func most() {
        // A name takes at least a letter after its namespace, and a NUL in the list.
        let count = 65_536 / ("user.a".utf8.count + 1)
        let value = [UInt8](repeating: 1, count: EntryAttribute.inlineLimit)
        var entry = Entry(path: .root, kind: .directory, permissions: 0, modified: Timestamp(seconds: 0))
        entry.attributes = (0..<count).map { EntryAttribute(name: Array("user.\($0 + 10_000)".utf8), value: value) }
        #expect(entry.weight + FormatLimits.pathBytes <= TreeShape.maximumEntryWeight)
    }
}
