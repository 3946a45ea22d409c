// Full and read-only file systems: nothing is lost, stored data stays readable, and writing works again later.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing
import Threading

/// A small temporary file system; mounting it needs root.
private final class SmallFileSystem {
    private let directory: TemporaryDirectory
    private var mounts = 1
    var path: FilePath { directory.path }

    /// Whether this process may mount: containers often forbid it even to root.
    static let isPossible = (try? SmallFileSystem(bytes: 1 << 20)) != nil

    init(bytes: Int) throws {
        directory = try TemporaryDirectory()
        try SmallFileSystem.run("mount", ["-t", "tmpfs", "-o", "size=\(bytes)", "tmpfs", directory.path.string])
    }

    /// Mounts it once more above itself: it could not be remounted while another test's new process has inherited a file.
    func makeReadOnly() throws {
        try SmallFileSystem.run("mount", ["--bind", path.string, path.string])
        mounts += 1
        try SmallFileSystem.run("mount", ["-o", "remount,bind,ro", path.string])
    }

    deinit {
        // Lazily: the kernel completes it when the last open file is closed.
        for _ in 0..<mounts { try? SmallFileSystem.run("umount", ["--lazy", path.string]) }
    }

    private static func run(_ command: String, _ arguments: [String]) throws {
        guard try ChildProcess.run([command] + arguments).status == 0 else {
            throw FileError(command, FilePath(command), .notPermitted)
        }
    }
}

@Suite("Full and read-only disks", .enabled(if: CurrentProcess.isRoot && SmallFileSystem.isPossible), .blocking)
struct FullDiskTests {
    @Test("a commit that does not fit fails completely, and the next one that fits succeeds")
    func full() throws {
        let disk = try SmallFileSystem(bytes: 8 << 20)
        let path = disk.path.appending("archive")
        var random = SeededGenerator()
        let ballast = disk.path.appending("ballast")
        try ballast.writeFile(random.noise(3 << 20))
        let store = try ArchiveStore.open(path, creating: true)
        let first = try store.commit(1, [random.noise(500_000)])
        let large = (0..<10).map { _ in random.noise(1 << 20) }
        let error = try #require(try failure { try store.commit(2, large) })
        #expect(error.code == .noSpace, "\(error)")
        #expect(error.remedy != nil)
        #expect(try store.holds(first))
        let next = try store.commit(3, [random.noise(1000)])
        #expect(try store.holds(next))
        let medium = (0..<5).map { _ in random.noise(1 << 20) }
        #expect(try failure { try store.commit(4, medium) }?.code == .noSpace)
        try removeFilling(ballast.string)
        let last = try store.commit(4, medium)
        let reopened = try ArchiveStore.open(path, creating: false)
        for commit in [first, next, last] { #expect(try reopened.holds(commit)) }
        #expect(try reopened.catalogue.snapshots().map(\.id) == [first.id, next.id, last.id])
    }

    @Test("the archive stays valid wherever space runs out during a commit")
    func everywhere() throws {
        let disk = try SmallFileSystem(bytes: 2 << 20)
        let path = disk.path.appending("archive")
        // Every commit seals a segment.
        try ArchiveCreationTests.makeArchive(at: path, segmentBytes: 20_000)
        let ballast = disk.path.appending("ballast")
        var random = SeededGenerator()
        let first = try ArchiveStore.open(path, creating: true).commit(1, [random.noise(100_000)])
        var commits = [first]
        var codes: [StorageError.Code?] = []
        for number in 2..<56 {
            let store = try ArchiveStore.open(path, creating: false)
            // Less and less ballast: first nothing fits, then the segment, then the catalogue's journal too.
            try ballast.writeFile([])
            let free = Int(try FileSystem.freeBytes(of: Descriptor.open(disk.path, 0)))
            try ballast.writeFile(random.noise(max(0, free - (number - 2) * 4096)))
            codes.append(try failure { commits.append(try store.commit(number, [random.noise(20_000)])) }?.code)
            #expect(try store.holds(first))
            try removeFilling(ballast.string)
            let reopened = try ArchiveStore.open(path, creating: false)
            #expect(try reopened.catalogue.snapshots().map(\.id) == commits.map(\.id), "after \(number)")
        }
        // What the first store removed at its end may give its room back later.
        #expect(codes.prefix(8).contains(.noSpace))
        #expect(codes.last == .some(nil))
        #expect(Set(codes) == [.noSpace, nil])
        let store = try ArchiveStore.open(path, creating: false)
        for commit in commits { #expect(try store.holds(commit)) }
    }

    @Test("a commit appends nothing after a failed append")
    func stopped() throws {
        let disk = try SmallFileSystem(bytes: 2 << 20)
        let path = disk.path.appending("archive")
        var random = SeededGenerator()
        let store = try ArchiveStore.open(path, creating: true)
        let writer = try store.beginCommit()
        var encoder = try BlockEncoder(level: 1)
        let large = try encoder.encode([RawChunk(kind: .content, bytes: random.noise(4 << 20))])
        let small = try encoder.encode([RawChunk(kind: .content, bytes: [1])])
        let segment = try onlySegment(in: path)
        let length = try segment.readFile().count
        for block in [large, small] { #expect(try failure { try writer.append(block) }?.code == .noSpace) }
        #expect(try segment.readFile().count == length)
        writer.abandon()
        #expect(try store.holds(store.commit(1, [[1]])))
    }

    @Test("gaps that do not fit are not entered, and all are entered once there is space")
    func gaps() throws {
        let disk = try SmallFileSystem(bytes: 4 << 20)
        let path = disk.path.appending("archive")
        let ballast = disk.path.appending("ballast")
        var random = SeededGenerator()
        let store = try ArchiveStore.open(path, creating: true)
        try store.enter([.sample(0)])
        let segment = try onlySegment(in: path)
        let before = try segment.readFile()
        // Together they take several pages, in several blocks.
        let gaps = (1...300).map { number in
            GapRecord(
                rootPath: Array("/root".utf8), host: "host", cause: .polling, start: Timestamp(seconds: Int64(number)),
                end: Timestamp(seconds: Int64(number)), detail: Hex.string(random.noise(500)))
        }
        for pages in [0, 1, 8, 40] {
            try ballast.writeFile([])
            let free = Int(try FileSystem.freeBytes(of: Descriptor.open(disk.path, 0)))
            try ballast.writeFile(random.noise(max(0, free - pages * 4096)))
            #expect(try failure { try store.enter(gaps) }?.code == .noSpace, "\(pages) pages")
            #expect(try store.catalogue.gaps() == [.sample(0)], "\(pages) pages")
            #expect(try segment.readFile() == before, "\(pages) pages")
        }
        try removeFilling(ballast.string)
        try store.enter(gaps)
        #expect(try ArchiveStore.open(path, creating: false).catalogue.gaps() == [.sample(0)] + gaps)
    }

    @Test("an archive on a full disk can still be read")
    func readingFull() throws {
        let disk = try SmallFileSystem(bytes: 2 << 20)
        let path = disk.path.appending("archive")
        var random = SeededGenerator()
        // It stays open: what it removes when it is closed may give its room back later.
        let first = try ArchiveStore.open(path, creating: true)
        defer { withExtendedLifetime(first) {} }
        let commit = try first.commit(1, [random.noise(1000)])
        let free = Int(try FileSystem.freeBytes(of: Descriptor.open(disk.path, 0)))
        try disk.path.appending("ballast").writeFile(random.noise(free))
        #expect(try FileSystem.freeBytes(of: Descriptor.open(disk.path, 0)) == 0)
        let store = try ArchiveStore.open(path, creating: false)
        #expect(try store.holds(commit))
        #expect(try failure { try store.commit(2, [random.noise(100_000)]) }?.code == .noSpace)
    }

    @Test("an archive on a read-only file system can be read, and refuses commits with a typed error")
    func readOnly() throws {
        let disk = try SmallFileSystem(bytes: 4 << 20)
        let path = disk.path.appending("archive")
        let gap = GapRecord.sample(1)
        let commit: Commit
        do {
            let store = try ArchiveStore.open(path, creating: true)
            commit = try store.commit(1, [Array("content".utf8)])
            try store.enter([gap])
        }
        try disk.makeReadOnly()
        let store = try ArchiveStore.open(path, creating: false)
        #expect(!store.isWritable)
        #expect(try store.catalogue.snapshots() == [commit.record])
        #expect(try store.holds(commit))
        #expect(try store.catalogue.gaps() == [gap])
        #expect(try failure { try store.beginCommit() }?.code == .readOnly)
        #expect(try failure { try store.enter([.sample(2)]) }?.code == .readOnly)
        // A gap that is already stored needs no write.
        try store.enter([gap])
        #expect(try failure { try ArchiveStore.open(disk.path.appending("new"), creating: true) }?.code == .readOnly)
        #expect(try failure { try ArchiveStore.rebuildCatalogue(of: path) }?.code == .readOnly)
    }

    @Test("an archive that cannot be locked is opened although another process drops a segment at that moment")
    func droppedWhileOpening() throws {
        let disk = try SmallFileSystem(bytes: 4 << 20)
        let path = disk.path.appending("archive")
        let segments = VanishingSegments()
        _ = try ArchiveStore.open(path, creating: true, segments: segments).commit(1, [Array("content".utf8)])
        try disk.makeReadOnly()
        #expect(try ArchiveStore.open(path, creating: false, segments: segments).catalogue.snapshots().count == 1)
        segments.areVanishing.withLock { $0 = true }
        #expect(try ArchiveStore.open(path, creating: false, segments: segments).catalogue.snapshots() == [])
    }
}

/// Segments that another process drops after they were listed.
private final class VanishingSegments: SegmentStore {
    let base = MemorySegments()
    let areVanishing = Locked(false)

    func note(begun names: [SegmentName]) {}

    func prepare() throws(StorageError) { try base.prepare() }
    func list() throws(StorageError) -> SegmentListing { try base.list() }
    func path(of name: String) -> FilePath { base.path(of: name) }
    func freeBytes() -> Int? { base.freeBytes() }

    func totalBytes() -> Int? { base.totalBytes() }
    func length(of name: String) -> Int? { base.length(of: name) }
    func removeUnfinished(_ name: String) {}

    func open(_ name: String) throws(StorageError) -> any SegmentReading { try openToWrite(name) }

    func openToWrite(_ name: String) throws(StorageError) -> any SegmentBytes {
        if areVanishing.withLock({ $0 }) { try base.remove(name, pausing: nil) }
        return try base.openToWrite(name)
    }

    func create(_ name: SegmentName, _ bytes: [UInt8]) throws(StorageError) -> (any SegmentBytes)? {
        try base.create(name, bytes)
    }

    func remove(_ name: String, pausing pause: (() throws(StorageError) -> Void)?) throws(StorageError) {
        try base.remove(name, pausing: pause)
    }
}
