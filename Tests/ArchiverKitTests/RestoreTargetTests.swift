// Restoring into another directory: a new or empty one, or one that the same restore has partly filled.

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

@testable import Restoring

@Suite(.blocking) struct RestoreTargetTests {
    @Test("a target that is not empty is refused and unchanged") func fullTarget() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "x")
        let snapshot = try sandbox.capture()
        try sandbox.base.makeDirectory("target")
        try sandbox.base.write("target/file", "mine")
        let before = try TreeListing(of: sandbox.base.full("target"))
        let error = ArchiverError.expect(.targetNotEmpty) {
            _ = try sandbox.archive.restore(snapshot, RestoreOptions(target: sandbox.base.full("target")))
        }
        #expect(error?.remedy != nil)
        try TreeListing(of: sandbox.base.full("target")).expect(equals: before, "the target")
        ArchiverError.expect(.targetNotEmpty) {
            _ = try sandbox.archive.restore(snapshot, RestoreOptions(target: sandbox.base.full("target/file")))
        }
        #expect(try sandbox.base.read("target/file") == Array("mine".utf8))
    }

    @Test("an empty and a missing target are filled") func emptyTarget() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "x")
        try sandbox.root.setPermissions("", 0o710)
        let before = try TreeListing(of: sandbox.root.directory)
        let snapshot = try sandbox.capture()
        try sandbox.base.makeDirectory("empty")
        for target in ["empty", "not/there/yet"] as [FilePath] {
            let result = try sandbox.archive.restore(snapshot, RestoreOptions(target: sandbox.base.full(target)))
            #expect(result.created == 2)
            try TreeListing(of: sandbox.base.full(target)).expect(equals: before, "\(target)")
        }
    }

    @Test("what a target hands on to new files does not change what is restored", .enabled(if: isRoot))
    func handingOn() throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("directory")
        for (name, permissions) in [("public", 0o644), ("program", 0o755), ("ours", 0o660), ("secret", 0o600)] {
            for path in [FilePath(name), "directory/\(name)"] {
                try sandbox.root.write(path, name)
                try sandbox.root.setPermissions(path, mode_t(permissions))
            }
        }
        let before = try TreeListing(of: sandbox.root.directory)
        let snapshot = try sandbox.capture()
        // linux/posix_acl_xattr.h: the owner may do everything, 99 and the group read, others nothing; without 99 the list
        // is only permissions.
        let short: [UInt8] =
            [2, 0, 0, 0] + [1, 0, 7, 0, 255, 255, 255, 255] + [4, 0, 4, 0, 255, 255, 255, 255]
            + [32, 0, 0, 0, 255, 255, 255, 255]
        let long: [UInt8] =
            [2, 0, 0, 0] + [1, 0, 7, 0, 255, 255, 255, 255] + [2, 0, 4, 0, 99, 0, 0, 0]
            + [4, 0, 4, 0, 255, 255, 255, 255] + [16, 0, 4, 0, 255, 255, 255, 255] + [32, 0, 0, 0, 255, 255, 255, 255]
        for (target, list) in [("group", nil), ("short", short), ("long", long)] as [(FilePath, [UInt8]?)] {
            try sandbox.base.makeDirectory(target)
            try sandbox.base.setOwner(target, 1234, 4321)
            try sandbox.base.setPermissions(target, 0o2777)
            if let list { try sandbox.base.setAttribute(target, "system.posix_acl_default", list) }
            _ = try sandbox.archive.restore(snapshot, RestoreOptions(target: sandbox.base.full(target)))
            try TreeListing(of: sandbox.base.full(target)).expect(equals: before, "\(target)")
        }
    }

    @Test("nobody may do more with a file that is being written than in the end") func firstPermissions() {
        for permissions in 0 as UInt16..<0o10000 {
            var entry = Entry(path: .root, kind: .file, permissions: permissions, modified: Timestamp(seconds: 0))
            let first = FileRestorer.permissions(whileWriting: entry)
            // A user who is in the group of the new file, or not, may be its owner, in its group or neither in the end.
            let everybody = permissions & permissions >> 3 & permissions >> 6 & 0o7
            #expect(first & ~(0o600 | permissions & 0o100 | everybody << 3 | everybody) == 0, "\(permissions)")
            if [0o600, 0o644, 0o700, 0o755].contains(permissions) { #expect(first == permissions) }
            entry.attributes = [EntryAttribute(name: Array("system.posix_acl_access".utf8), value: Content.none)]
            #expect(FileRestorer.permissions(whileWriting: entry) & 0o7077 == 0)
        }
    }

    @Test("parts are restored into the target") func parts() throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("d/inner")
        try sandbox.root.write("d/inner/file", "x")
        try sandbox.root.write("d/other", "y")
        try sandbox.root.makeLink("d/inner/same", to: "d/other")
        try sandbox.root.setTime("d/inner", 1_000_000_000, 7)
        let before = try TreeListing(of: sandbox.root.directory)
        let snapshot = try sandbox.capture()
        try sandbox.restored(snapshot, path: .at("d")).expect(equals: before.below("d").relinked("d/"), "a directory")
        let file = try sandbox.restored(snapshot, path: .at("d/inner/file"))
        #expect(Set(file.objects.keys) == ["", "file"])
        #expect(file.objects["file"] == before.objects["d/inner/file"])
        // The other name of this file is not restored.
        let name = try sandbox.restored(snapshot, path: .at("d/inner/same"))
        #expect(name.objects["same"]?.data == before.objects["d/inner/same"]?.data)
    }

    /// The restore stops at an action and leaves behind what a kill would: partial directories, the marker, and a
    /// temporary file.
    @Test("an interrupted restore resumes", arguments: 0..<10) func resume(step: Int) throws {
        let sandbox = try Sandbox()
        let seed = SeededGenerator("interrupted restore \(step)").seed
        var edits = RandomEdits(sandbox.root, SeededGenerator(seed: seed))
        for _ in 0..<20 { _ = try edits.edit() }
        try sandbox.root.makeDirectory("fixed/d/inner")
        let fixed = Files(sandbox.root.full("fixed"))
        try fixed.write("d/file", [UInt8](repeating: 1, count: 1000))
        try fixed.makeLink("d/inner/same", to: "d/file")
        try fixed.makeSymbolicLink("link", to: "d")
        try fixed.makeNode("fifo", S_IFIFO)
        try fixed.setSize("hole", 100_000)
        try fixed.write("empty", "")
        let before = try TreeListing(of: sandbox.root.directory)
        let snapshot = try sandbox.capture()
        let target = Files(sandbox.base.full("target"))
        let gate = Gate(closesAfter: step)
        Thread.detachNewThread {
            _ = try? sandbox.archive.restore(snapshot, RestoreOptions(target: target.directory)) { _ in gate.pass() }
            gate.end()
        }
        gate.waitForStop()
        defer { gate.release() }
        let leftBehind = FilePath(raw: TemporaryFile.newName().bytes)
        try target.write(leftBehind, "part of a file")
        if target.exists("fixed/d") { try target.write(FilePath("fixed/d").pushing(leftBehind), "part of a file") }
        let result = try sandbox.archive.restore(snapshot, RestoreOptions(target: target.directory))
        #expect(result.warnings == [], "seed \(seed)")
        try TreeListing(of: target.directory).expect(equals: before, "seed \(seed), resumed")
        // A restore of another snapshot refuses the target.
        try sandbox.root.write("one more", "file")
        let other = try sandbox.capture()
        ArchiverError.expect(.targetNotEmpty) {
            _ = try sandbox.archive.restore(other, RestoreOptions(target: target.directory))
        }
    }

    /// Lets a number of actions pass, then blocks the thread until the test is over.
    ///
    /// Actions are applied one after another, so this leaves the state after a kill, except for a temporary file.
    private final class Gate: @unchecked Sendable {
        // Unchecked: one thread passes, and the other only uses the semaphores.
        private var left: Int
        private let stopped = DispatchSemaphore(value: 0)
        private let released = DispatchSemaphore(value: 0)
        private let ended = DispatchSemaphore(value: 0)

        init(closesAfter count: Int) { left = count }

        func pass() {
            if left == 0 {
                stopped.signal()
                released.wait()
            }
            left -= 1
        }

        func end() {
            stopped.signal()
            ended.signal()
        }

        func waitForStop() { stopped.wait() }

        func release() {
            released.signal()
            ended.wait()
        }
    }
}

extension TreeListing {
    /// The listing with `prefix` removed from first names; those without it become nil.
    fileprivate func relinked(_ prefix: String) -> TreeListing {
        var listing = self
        for (path, object) in objects {
            guard let name = object.firstName else { continue }
            listing.objects[path]?.firstName = name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : nil
        }
        return listing
    }
}
