// A full disk: the error names the cause, and nothing that existed is lost.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Foundation
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
        try removeFilling(small.full("ballast").string)
        _ = try archive.restore(snapshot)
        #expect(try root.size("a/large") == 2 << 20)
        let undo = try #require(try archive.snapshots().first { $0.cause == .beforeRestore })
        _ = try archive.restore(undo)
        try TreeListing(of: root.directory).without(S_IFDIR).expect(equals: before.without(S_IFDIR), "undone")
    }

    @Test("a disk that gets full at any moment of a purge damages nothing, and with room the purge is completed")
    func purge() throws {
        var random = SeededGenerator("a full disk during a purge")
        let base = try Sandbox()
        for version in 0..<4 {
            try base.root.write("kept", random.noise(60_000))
            try base.root.write("secret", random.noise(20_000))
            try base.root.write("both", String(repeating: "line \(version)\n", count: 3000))
            _ = try base.capture()
        }
        base.archive.store.releaseWriters()
        let root = ArchivedRoot(here: base.root.directory)
        let target = PurgeTarget.paths([try .at("secret")], of: root)
        // Room for the files of an archive that was removed and is still open in a program that is being started.
        let disk = try SmallDisk(mebibytes: 8)
        let place = disk.files.full("archive")
        var failures = 0
        for free in stride(from: 0, through: 640_000, by: 32_000) {
            if free > 0 { try disk.files.remove("archive") }
            try FileManager.default.copyItem(atPath: base.archive.directory.string, toPath: place.string)
            // Otherwise its room is enough.
            try disk.files.remove("archive/ballast")
            let note = Comment(rawValue: "with \(free) bytes free")
            let room = try disk.freeBytes
            try disk.fill(room - min(room, free))
            var isDone = false
            do throws(ArchiverError) { isDone = try Archive.purge(target, in: place).isComplete } catch {
                #expect(error.code == .noSpace, note)
                failures += 1
            }
            try removeFilling(disk.files.full("filler").string)
            let archive = try Archive.open(place)
            #expect(try archive.check(data: true).findings == [], note)
            archive.store.close()
            if !isDone { #expect(try Archive.purge(target, in: place).isComplete, note) }
            let purged = try Archive.open(place)
            #expect(try purged.check(data: true).findings == [], note)
            #expect(
                try purged.names(matching: Array("*".utf8), in: root).map { "\($0.path)" } == ["both", "kept"], note)
            #expect(try purged.snapshots().count == 4, note)
        }
        #expect((3...20).contains(failures), "\(failures) purges found the disk full")
    }

    @Test("on a full small disk, a prune frees what is dead between data that is still needed")
    func prune() throws {
        let disk = try SmallDisk(mebibytes: 12)
        var random = SeededGenerator("a prune on a full small disk")
        let base = try Sandbox()
        var last: ListedSnapshot?
        for number in 0..<12 {
            try base.root.write("kept \(number)", random.noise(300_000))
            try base.root.write("changed", random.noise(60_000))
            // As a command does: it opens the archive, and closes it.
            let archive = try Archive.open(disk.files.full("archive"), creating: true)
            let snapshot = try #require(try archive.capture(base.root.directory).snapshot)
            if let last { try archive.forget([.snapshot(last)]) }
            last = snapshot
            archive.store.close()
        }
        let wanted = try TreeListing(of: base.root.directory)
        // The space that the program has reserved for this moment is all there is.
        try disk.fill(try disk.freeBytes)
        var options = MaintenanceOptions()
        options.grace = .zero
        let full = try Archive.open(disk.files.full("archive"))
        let pruned = try #require(try full.maintain(options).pruned)
        #expect(pruned.withoutRoom == 0 && pruned.freedBytes > 500_000, "\(pruned)")
        let checked = try full.check(data: true)
        #expect(checked.findings == [])
        let target = base.base.full("target")
        _ = try full.restore(try #require(try full.snapshots().last), RestoreOptions(target: target))
        try TreeListing(of: target).expect(equals: wanted, "after the prune")
    }
}

/// A small file system.
private final class SmallDisk {
    let files: Files

    init(mebibytes: Int = 3) throws {
        files = Files(try TemporaryDirectory.create())
        guard mount("tmpfs", files.directory.string, "tmpfs", 0, "size=\(mebibytes)m") == 0 else {
            throw SystemFailure("mount", files.directory)
        }
    }

    var freeBytes: Int {
        get throws {
            var status = statvfs()
            guard statvfs(files.directory.string, &status) == 0 else {
                throw SystemFailure("statvfs", files.directory)
            }
            return Int(status.f_bavail * status.f_frsize)
        }
    }

    /// Takes `count` bytes of the disk.
    func fill(_ count: Int) throws {
        try files.write("filler", [UInt8](repeating: 0, count: count))
    }

    deinit {
        umount2(files.directory.string, CInt(MNT_DETACH))
        rmdir(files.directory.string)
    }
}
