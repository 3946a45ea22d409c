// What a restore must never do: leave its root, lose the present state, or change paths that it was not asked to
// restore.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Foundation
import Glibc
import SystemPackage
import TestTraits
import Testing

@Suite(.blocking) struct RestoreSafetyTests {
    // MARK: Inside the part

    @Test("a restore of one name of a file leaves the file's other name alone")
    func oneNameOfAFile() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("part", "content")
        try sandbox.root.makeLink("other", to: "part")
        try sandbox.root.setPermissions("part", 0o600)
        let snapshot = try sandbox.capture()
        let before = try TreeListing(of: sandbox.root.directory).below("part").withoutLinks
        try sandbox.root.setPermissions("part", 0o640)
        try sandbox.root.setTime("part", 1_000_000_000)
        let result = try sandbox.archive.restore(snapshot, RestoreOptions(path: try .at("part")))
        #expect(result.metadataOnly == 1 && result.isComplete)
        try TreeListing(of: sandbox.root.directory).below("part").withoutLinks.expect(equals: before, "the part")
        let other = try sandbox.root.status("other")
        #expect(other.st_mode & 0o777 == 0o640 && other.st_mtim.tv_sec == 1_000_000_000)
        #expect(try sandbox.root.read("other") == Array("content".utf8))
    }

    @Test("names of one file still share it after their metadata is restored")
    func allNamesOfAFile() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("a", "content")
        try sandbox.root.makeLink("b", to: "a")
        let snapshot = try sandbox.capture()
        let before = try TreeListing(of: sandbox.root.directory)
        try sandbox.root.setPermissions("b", 0o600)
        _ = try sandbox.archive.restore(snapshot)
        try sandbox.expectRoot(equals: before)
    }

    // MARK: Inside the root

    /// A directory of the snapshot is now a link to the outside: the link's target stays as it is.
    @Test("a link to the outside is not followed") func linkOutside() throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("d/inner")
        try sandbox.root.write("d/file", "inside")
        try sandbox.root.write("d/inner/file", "inside")
        let before = try TreeListing(of: sandbox.root.directory)
        let snapshot = try sandbox.capture()
        try sandbox.base.makeDirectory("outside/inner")
        try sandbox.base.write("outside/file", "victim")
        try sandbox.base.write("outside/inner/other", "victim")
        let outside = try TreeListing(of: sandbox.base.full("outside"))
        try sandbox.root.remove("d")
        try sandbox.root.makeSymbolicLink("d", to: "../outside")
        let present = try sandbox.capture()
        _ = try sandbox.archive.restore(snapshot)
        try sandbox.expectRoot(equals: before)
        // And back: removing the files below `d` does not follow the link in its place.
        _ = try sandbox.archive.restore(present)
        #expect(try sandbox.root.status("d").st_mode & S_IFMT == S_IFLNK)
        try TreeListing(of: sandbox.base.full("outside")).expect(equals: outside, "the outside")
    }

    /// An attacker plants the link between planning and applying, to have files outside overwritten or removed.
    @Test(
        "a link planted during the restore is not followed", arguments: [RestoreAction.Kind.create, .replace, .delete])
    func plantedLink(moment: RestoreAction.Kind) throws {
        let sandbox = try Sandbox()
        try sandbox.base.makeDirectory("outside")
        for name in ["outside/deleted", "outside/replaced"] as [FilePath] { try sandbox.base.write(name, "victim") }
        let outside = try TreeListing(of: sandbox.base.full("outside"))
        try sandbox.root.makeDirectory("d")
        try sandbox.root.write("d/created", "x")
        try sandbox.root.write("d/replaced", "x")
        try sandbox.root.write("z", "x")
        let snapshot = try sandbox.capture()
        try sandbox.root.remove("d/created")
        try sandbox.root.write("d/replaced", "y")
        try sandbox.root.write("d/deleted", "y")
        try sandbox.root.write("z", "y")
        let root = sandbox.root
        _ = try? sandbox.archive.restore(snapshot) { action in
            guard action.kind == moment, action.path.depth == 2, (try? root.status("d").st_mode & S_IFMT) == S_IFDIR
            else { return }
            try? root.rename("d", to: "moved away")
            try? root.makeSymbolicLink("d", to: "../outside")
        }
        try TreeListing(of: sandbox.base.full("outside")).expect(equals: outside, "the outside")
    }

    @Test("a file that changes during the restore is left as it is") func changedDuringRestore() throws {
        let sandbox = try Sandbox()
        for name in ["a", "b", "c"] as [FilePath] { try sandbox.root.write(name, "old") }
        let snapshot = try sandbox.capture()
        for name in ["a", "b", "c"] as [FilePath] { try sandbox.root.write(name, "new") }
        let root = sandbox.root
        let result = try sandbox.archive.restore(snapshot) { action in
            if action.path.description == "b" { try? root.write("b", "newest, and in no snapshot") }
        }
        #expect(result.skipped == 1)
        #expect(result.warnings.count == 1)
        #expect(result.warnings.first?.hasPrefix("b ") == true)
        #expect(try root.read("a") == Array("old".utf8))
        #expect(try root.read("b") == Array("newest, and in no snapshot".utf8))
        #expect(try root.read("c") == Array("old".utf8))
        // The next restore succeeds, and captures the newest state first.
        #expect(try sandbox.archive.restore(snapshot).warnings == [])
        #expect(try root.read("b") == Array("old".utf8))
    }

    /// Nothing else was there when the restore began, so it does not look before it creates.
    @Test("what takes a name while a restore into a new directory runs is left as it is") func takenName() throws {
        let sandbox = try Sandbox()
        let names = ["directory", "file", "link", "other name", "pipe"] as [FilePath]
        try sandbox.root.makeDirectory("directory")
        try sandbox.root.write("file", "x")
        try sandbox.root.makeSymbolicLink("link", to: "file")
        try sandbox.root.write("a", "of two names")
        try sandbox.root.makeLink("other name", to: "a")
        try sandbox.root.makeNode("pipe", S_IFIFO | 0o600)
        let snapshot = try sandbox.capture()
        let target = sandbox.base.full("target")
        let base = sandbox.base
        let options = RestoreOptions(target: target)
        let result = try sandbox.archive.restore(snapshot, options) { action in
            let name = FilePath("target").appending(action.path.description)
            if names.contains(FilePath(action.path.description)) { try? base.write(name, "of another program") }
        }
        #expect(result.skipped == names.count && result.failed == names.count)
        for name in names {
            #expect(try base.read(FilePath("target").pushing(name)) == Array("of another program".utf8), "\(name)")
            let message = "\(name) changed while the restore ran and was not restored"
            #expect(result.problems.contains { $0.message == message })
        }
        #expect(try base.read("target/a") == Array("of two names".utf8))
    }

    /// The restored name is linked to names that needed only new metadata.
    @Test("a removed name of a file with changed permissions is restored") func furtherName() throws {
        let sandbox = try Sandbox()
        let root = sandbox.root
        try root.write("a", "x")
        try root.makeLink("b", to: "a")
        let first = try sandbox.capture()
        try root.makeLink("c", to: "a")
        try root.setPermissions("a", 0o600)
        let second = try sandbox.capture()
        let listing = try TreeListing(of: root.directory)
        _ = try sandbox.archive.restore(first)
        _ = try sandbox.archive.restore(second)
        try sandbox.expectRoot(equals: listing)
    }

    /// A file that differs from the latest snapshot only in change time or inode is restored, and makes no snapshot.
    @Test("a file that differs only in its signature is restored") func changedSignature() throws {
        let sandbox = try Sandbox()
        let root = sandbox.root
        try root.makeDirectory("d")
        // More signature changes than a capture without other changes records.
        for number in 0..<5000 { try root.write("d/\(number)", "old") }
        let snapshot = try sandbox.capture()
        for number in 0..<5000 { try root.write("d/\(number)", "new") }
        try sandbox.capture()
        for number in 0..<5000 {
            let permissions = try root.status("d/\(number)").st_mode & 0o7777
            try root.setPermissions("d/\(number)", 0o600)
            try root.setPermissions("d/\(number)", permissions)
        }
        let result = try sandbox.archive.restore(snapshot)
        #expect(result.skipped == 0 && result.replaced == 5000 && result.before == nil)
        #expect(try root.read("d/0") == Array("old".utf8) && root.read("d/4999") == Array("old".utf8))
        try sandbox.expectCleanArchive()
    }

    @Test("the state before a restore is captured and can be restored") func stateBefore() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "first")
        let snapshot = try sandbox.capture()
        try sandbox.root.write("file", "second, never captured")
        try sandbox.root.makeDirectory("new/directory")
        let before = try TreeListing(of: sandbox.root.directory)
        let result = try sandbox.archive.restore(snapshot)
        #expect(result.before?.cause == .beforeRestore)
        #expect(result.undo == result.before)
        #expect(try sandbox.archive.snapshots().map(\.cause) == [.capture, .beforeRestore, .restore])
        _ = try sandbox.archive.restore(try #require(result.undo))
        try sandbox.expectRoot(equals: before)
    }

    @Test("a dry run changes nothing") func dryRun() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("kept", "x")
        try sandbox.root.write("edited", "x")
        try sandbox.root.write("removed", "x")
        let snapshot = try sandbox.capture()
        try sandbox.root.write("edited", "yy")
        try sandbox.root.remove("removed")
        try sandbox.root.write("added", "y")
        try sandbox.root.setPermissions("kept", 0o600)
        let before = try TreeListing(of: sandbox.root.directory)
        let actions = Actions()
        let options = RestoreOptions(isDryRun: true)
        let result = try sandbox.archive.restore(snapshot, options) { actions.add($0) }
        #expect(actions.texts == ["metadata ", "delete added", "replace edited", "metadata kept", "create removed"])
        #expect((result.created, result.replaced, result.deleted, result.metadataOnly) == (1, 1, 1, 2))
        try sandbox.expectRoot(equals: before)
        #expect(try sandbox.archive.snapshots().count == 1)
        // The restore performs the reported actions.
        let done = Actions()
        _ = try sandbox.archive.restore(snapshot) { done.add($0) }
        #expect(done.texts == actions.texts)
    }

    // MARK: A part

    @Test("a restore of a path changes only that path") func onePath() throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("d")
        try sandbox.root.write("d/wanted", "old")
        try sandbox.root.write("d/other", "old")
        let snapshot = try sandbox.capture()
        try sandbox.root.write("d/wanted", "new")
        try sandbox.root.write("d/other", "new")
        try sandbox.root.write("d/added", "new")
        try sandbox.root.setPermissions("d", 0o700)
        try sandbox.root.setTime("d", 1_000_000_000)
        var wanted = try TreeListing(of: sandbox.root.directory)
        _ = try sandbox.archive.restore(snapshot, RestoreOptions(path: .at("d/wanted")))
        wanted.objects["d/wanted"] = try TreeListing(of: sandbox.root.directory).objects["d/wanted"]
        #expect(try sandbox.root.read("d/wanted") == Array("old".utf8))
        try sandbox.expectRoot(equals: wanted)
        // A missing path, whose directories are missing too.
        try sandbox.root.remove("d")
        let directory = try TreeListing(of: sandbox.root.directory)
        _ = try sandbox.archive.restore(snapshot, RestoreOptions(path: .at("d/other")))
        let found = try TreeListing(of: sandbox.root.directory)
        let original = try sandbox.restored(snapshot)
        #expect(Set(found.objects.keys) == ["", "d", "d/other"])
        #expect(found.objects[""] == directory.objects[""])
        for path in ["d", "d/other"] { #expect(found.objects[path] == original.objects[path]) }
        #expect(try sandbox.archive.capture(sandbox.root.directory).snapshot == nil)
    }

    @Test("missing directories above a restored path get their metadata") func deepParts() throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("a/b/c")
        try sandbox.root.write("a/b/c/file", "x")
        for path in ["a/b/c", "a/b", "a"] as [FilePath] {
            try sandbox.root.setPermissions(path, 0o751)
            try sandbox.root.setTime(path, 1_234_567_890)
        }
        let before = try TreeListing(of: sandbox.root.directory)
        let snapshot = try sandbox.capture()
        try sandbox.root.remove("a")
        try sandbox.root.setTime("", before.objects[""]?.seconds ?? 0, before.objects[""]?.nanoseconds ?? 0)
        _ = try sandbox.archive.restore(snapshot, RestoreOptions(path: .at("a/b/c/file")))
        try sandbox.expectRoot(equals: before)
        // The same if even the root is missing.
        try sandbox.root.removeAll()
        _ = try sandbox.archive.restore(snapshot, RestoreOptions(path: .at("a/b/c/file")))
        try sandbox.expectRoot(equals: before)
    }

    @Test("restoring a path below a present file is refused, and so is its dry run", arguments: [false, true])
    func partBelowFile(isDryRun: Bool) throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("d")
        try sandbox.root.write("d/file", "x")
        try sandbox.root.write("other", "other")
        let snapshot = try sandbox.capture()
        try sandbox.root.remove("d")
        try sandbox.root.write("d", "a file now")
        let before = try TreeListing(of: sandbox.root.directory)
        let error = ArchiverError.expect(.notDirectory) {
            _ = try sandbox.archive.restore(snapshot, RestoreOptions(path: .at("d/file"), isDryRun: isDryRun))
        }
        #expect(error?.message.contains("d is not a directory") == true)
        try sandbox.expectRoot(equals: before)
        // Of several paths, the others are restored.
        let paths = try ["d/file", "other"].map { try WantedPath(.at($0), in: snapshot) }
        let result = try sandbox.archive.restore(paths, RestoreOptions(isDryRun: isDryRun))
        #expect(result.problems.map(\.path) == [paths[0].path] && result.failed == 1)
    }

    /// The restored name gets the old content, and the other name keeps the new one.
    @Test("restoring one name of a changed file leaves the other name as it is") func oneChangedLink() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("a", "old")
        try sandbox.root.makeLink("b", to: "a")
        let snapshot = try sandbox.capture()
        try sandbox.root.write("a", "new")
        _ = try sandbox.archive.restore(snapshot, RestoreOptions(path: .at("b")))
        #expect(try sandbox.root.read("b") == Array("old".utf8))
        #expect(try sandbox.root.read("a") == Array("new".utf8))
    }

    /// The other name is unchanged, so the restored one is linked to it.
    @Test("a restored name of an unchanged file is linked to the file") func oneLink() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("a", "content")
        try sandbox.root.makeLink("b", to: "a")
        try sandbox.root.makeLink("c", to: "a")
        let before = try TreeListing(of: sandbox.root.directory)
        let snapshot = try sandbox.capture()
        try sandbox.root.remove("b")
        _ = try sandbox.archive.restore(snapshot, RestoreOptions(path: .at("b")))
        try sandbox.root.setTime("", before.objects[""]?.seconds ?? 0, before.objects[""]?.nanoseconds ?? 0)
        try sandbox.expectRoot(equals: before)
        try sandbox.root.remove("b")
        try sandbox.root.remove("c")
        _ = try sandbox.archive.restore(snapshot, RestoreOptions(path: .at("c")))
        _ = try sandbox.archive.restore(snapshot, RestoreOptions(path: .at("b")))
        try sandbox.root.setTime("", before.objects[""]?.seconds ?? 0, before.objects[""]?.nanoseconds ?? 0)
        try sandbox.expectRoot(equals: before)
    }

    @Test("a path that is not in the snapshot is refused") func unknownPath() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "x")
        let snapshot = try sandbox.capture()
        let path = try RelativePath.at("no/such/path")
        for target in [nil, sandbox.base.full("target")] {
            let error = ArchiverError.expect(.noSuchPath) {
                _ = try sandbox.archive.restore(snapshot, RestoreOptions(path: path, target: target))
            }
            #expect(error?.message.contains("no/such/path") == true)
        }
        #expect(!sandbox.base.exists("target"))
    }

    // MARK: The root and the archive

    @Test("a deleted root is recreated") func deletedRoot() throws {
        let sandbox = try Sandbox(root: "a/b/root")
        try sandbox.root.makeDirectory("d")
        try sandbox.root.write("d/file", "x")
        try sandbox.root.setPermissions("", 0o750)
        let before = try TreeListing(of: sandbox.root.directory)
        let snapshot = try sandbox.capture()
        try sandbox.base.remove("a")
        let result = try sandbox.archive.restore(snapshot)
        #expect(result.before == nil)
        try sandbox.expectRoot(equals: before)
        #expect(try sandbox.archive.capture(sandbox.root.directory).snapshot == nil)
    }

    @Test("an archive inside the root is excluded") func archiveInRoot() throws {
        let sandbox = try Sandbox(archive: "root/state/archive")
        try sandbox.root.write("file", "x")
        let snapshot = try sandbox.capture()
        #expect(try sandbox.archive.entry(at: .at("state"), in: snapshot) != nil)
        #expect(try sandbox.archive.entry(at: .at("state/archive"), in: snapshot) == nil)
        #expect(try sandbox.archive.capture(sandbox.root.directory).snapshot == nil)
        try sandbox.root.write("file", "y")
        try sandbox.root.write("state/other", "y")
        #expect(try sandbox.archive.restore(snapshot).warnings == [])
        #expect(try sandbox.root.read("file") == Array("x".utf8))
        #expect(!sandbox.root.exists("state/other"))
        try sandbox.expectCleanArchive()
    }

    /// The archive was moved into the root after the snapshot, which therefore lacks its directory.
    @Test("a restore does not remove the archive") func archiveStays() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "x")
        try sandbox.root.setTime("", 1_000_000)
        let snapshot = try sandbox.capture()
        try sandbox.root.makeDirectory("state")
        try sandbox.base.rename("archive", to: "root/state/archive")
        let moved = try Archive.open(sandbox.root.full("state/archive"))
        let result = try moved.restore(snapshot)
        #expect(result.warnings.count == 1)
        #expect(result.warnings.first?.hasPrefix("state ") == true)
        #expect(try moved.check(data: true).findings == [])
    }
}

/// Collects the actions of a restore.
private final class Actions: @unchecked Sendable {
    // Unchecked: a restore reports its actions one after another.
    private(set) var texts: [String] = []

    func add(_ action: RestoreAction) { texts.append("\(action.kind) \(action.path)") }
}
