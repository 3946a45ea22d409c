// What a restore must never do: leave its root, lose what was there, or take what it is not asked for.

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

    @Test("A restore of one name of a file leaves the file's other name alone")
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
        #expect(result.metadata == 1 && result.isComplete)
        try TreeListing(of: sandbox.root.directory).below("part").withoutLinks.expect(equals: before, "the part")
        let other = try sandbox.root.status("other")
        #expect(other.st_mode & 0o777 == 0o640 && other.st_mtim.tv_sec == 1_000_000_000)
        #expect(try sandbox.root.read("other") == Array("content".utf8))
    }

    @Test("Names of one file whose metadata comes back are names of one file afterwards")
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

    /// A directory of the snapshot is a link to the outside now: what is behind it stays.
    @Test func aLinkToTheOutsideIsNotFollowed() throws {
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
        // And back: what is removed below `d` is not what a link in its place leads to.
        _ = try sandbox.archive.restore(present)
        #expect(try sandbox.root.status("d").st_mode & S_IFMT == S_IFLNK)
        try TreeListing(of: sandbox.base.full("outside")).expect(equals: outside, "the outside")
    }

    /// The link is put in place between planning and doing, by whoever wants to have the outside overwritten or removed.
    @Test(arguments: [RestoreAction.Kind.create, .replace, .delete])
    func aLinkPlantedDuringTheRestoreIsNotFollowed(moment: RestoreAction.Kind) throws {
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

    @Test func aFileThatChangesDuringTheRestoreIsLeft() throws {
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
        // Restored again, nothing is in the way; and the newest state was captured first.
        #expect(try sandbox.archive.restore(snapshot).warnings == [])
        #expect(try root.read("b") == Array("old".utf8))
    }

    /// A name that is back is linked to names of which only the metadata had to be set.
    @Test func aFurtherNameOfAFileWithOtherPermissionsComesBack() throws {
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

    /// What has another change time or inode than the latest snapshot knows, and is the same in all else, is no reason to
    /// leave it alone, nor for a snapshot.
    @Test func whatOnlyItsSignatureTellsApartIsRestored() throws {
        let sandbox = try Sandbox()
        let root = sandbox.root
        try root.makeDirectory("d")
        // More than changes of signatures are remembered by a capture that finds nothing else.
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

    @Test func theStateBeforeComesBack() throws {
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

    @Test func aDryRunChangesNothing() throws {
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
        #expect((result.created, result.replaced, result.deleted, result.metadata) == (1, 1, 1, 2))
        try sandbox.expectRoot(equals: before)
        #expect(try sandbox.archive.snapshots().count == 1)
        // What was told is what is done.
        let done = Actions()
        _ = try sandbox.archive.restore(snapshot) { done.add($0) }
        #expect(done.texts == actions.texts)
    }

    // MARK: A part

    @Test func onlyThePathIsTouched() throws {
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
        // A path that is not there now, and one whose directories are gone too.
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

    @Test func deepPartsBelowMissingDirectoriesGetTheirMetadata() throws {
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
        // The same where even the root is gone.
        try sandbox.root.removeAll()
        _ = try sandbox.archive.restore(snapshot, RestoreOptions(path: .at("a/b/c/file")))
        try sandbox.expectRoot(equals: before)
    }

    @Test func aPartBelowWhatIsAFileNowIsRefused() throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("d")
        try sandbox.root.write("d/file", "x")
        let snapshot = try sandbox.capture()
        try sandbox.root.remove("d")
        try sandbox.root.write("d", "a file now")
        let before = try TreeListing(of: sandbox.root.directory)
        let error = ArchiverError.expect(.notDirectory) {
            _ = try sandbox.archive.restore(snapshot, RestoreOptions(path: .at("d/file")))
        }
        #expect(error?.message.contains("d is not a directory") == true)
        try sandbox.expectRoot(equals: before)
    }

    /// One name of a file with two is restored: it gets its old content, and the other name keeps the new one.
    @Test func aPartOfAHardLinkDoesNotChangeTheOther() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("a", "old")
        try sandbox.root.makeLink("b", to: "a")
        let snapshot = try sandbox.capture()
        try sandbox.root.write("a", "new")
        _ = try sandbox.archive.restore(snapshot, RestoreOptions(path: .at("b")))
        #expect(try sandbox.root.read("b") == Array("old".utf8))
        #expect(try sandbox.root.read("a") == Array("new".utf8))
    }

    /// The other name is as it was: the restored one is a name of that file again.
    @Test func aPartOfAHardLinkIsLinkedToTheOther() throws {
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

    @Test func aPathThatIsNotInTheSnapshotIsRefused() throws {
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

    @Test func aDeletedRootIsMadeAnew() throws {
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

    @Test func theArchiveBelowTheRootIsLeftOut() throws {
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

    /// A snapshot from before the archive was moved below the root wants its directory gone.
    @Test func theArchiveIsNotRemovedByARestore() throws {
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
    // Unchecked: a restore tells of its actions one after another.
    private(set) var texts: [String] = []

    func add(_ action: RestoreAction) { texts.append("\(action.kind) \(action.path)") }
}
