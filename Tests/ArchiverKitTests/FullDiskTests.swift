// A full disk: the error names the cause, and nothing that existed is lost.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

/// Only root can mount the small file system that these tests fill.
@Suite(.enabled(if: isRoot), .blocking) struct FullDiskTests {
    @Test("a full disk during a capture leaves the archive valid")
    func capture() throws {
        let disk = try SmallDisk()
        var random = SeededGenerator("a full disk during a capture")
        let base = try Sandbox()
        let archive = try Archive.open(disk.files.full("archive"), creating: true)
        try base.root.write("file", "small")
        let wanted = try TreeListing(of: base.root.directory)
        let first = try archive.capture(base.root.directory).latest
        try base.root.write("large", random.noise(5 << 20))
        ArchiverError.expect(.noSpace) { _ = try archive.capture(base.root.directory) }
        #expect(try archive.snapshots().map(\.id) == [first.id])
        #expect(try Archive.open(archive.directory).check(data: true).findings == [])
        let target = base.base.full("target")
        _ = try archive.restore(first, RestoreOptions(target: target))
        try TreeListing(of: target).expect(equals: wanted, "the snapshot before")
        // With free space, the next capture succeeds.
        try base.root.write("large", random.noise(100_000))
        let second = try #require(try archive.capture(base.root.directory).snapshot)
        #expect(second.parent == first.id)
        #expect(try archive.check(data: true).findings == [])
    }

    @Test("a full disk during a restore loses nothing")
    func restore() throws {
        let disk = try SmallDisk()
        let small = disk.files
        var random = SeededGenerator("a full disk during a restore")
        let sandbox = try Sandbox()
        let archive = sandbox.archive
        let root = Files(small.full("root"))
        try small.makeDirectory("root/a")
        try root.write("a/large", random.noise(2 << 20))
        try root.write("z", "old")
        let captured = try archive.capture(root.directory)
        let snapshot = try #require(captured.snapshot)
        try root.write("a/large", "now it is small")
        try root.write("z", "new")
        try small.write("ballast", random.noise(2 << 20))
        let before = try TreeListing(of: root.directory)
        // The file that does not fit stays as it is, the rest is restored.
        let result = try archive.restore(snapshot)
        #expect(result.problems.map(\.path.description) == ["a/large"])
        #expect(try Files(root.full("a")).names() == ["large"])
        #expect(try root.read("a/large") == Array("now it is small".utf8))
        #expect(try root.read("z") == Array("old".utf8))
        // With free space, the same restore succeeds, and so does its reversal.
        try small.remove("ballast")
        _ = try archive.restore(snapshot)
        #expect(try root.size("a/large") == 2 << 20)
        let undo = try #require(try archive.snapshots().first { $0.cause == .beforeRestore })
        _ = try archive.restore(undo)
        try TreeListing(of: root.directory).without(S_IFDIR).expect(equals: before.without(S_IFDIR), "undone")
    }
}

/// A file system of 3 MiB.
private final class SmallDisk {
    let files: Files

    init() throws {
        files = Files(try TemporaryDirectory.create())
        guard mount("tmpfs", files.directory.string, "tmpfs", 0, "size=3m") == 0 else {
            throw SystemFailure("mount", files.directory)
        }
    }

    deinit {
        umount2(files.directory.string, CInt(MNT_DETACH))
        rmdir(files.directory.string)
    }
}
