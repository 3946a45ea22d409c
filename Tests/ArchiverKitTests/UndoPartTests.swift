// Undoing restores of a part of a root, or of a deleted root.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import SystemPackage
import TestTraits
import Testing

@Suite(.blocking) struct UndoPartTests {
    private let sandbox: Sandbox
    private var archive: Archive { sandbox.archive }
    private var files: Files { sandbox.root }

    init() throws { sandbox = try Sandbox() }

    private func root() throws -> ArchivedRoot { try #require(try archive.roots().first) }

    private func listing() throws -> TreeListing { try TreeListing(of: files.directory) }

    /// Creates some directories with files, and captures them.
    private func capture() throws -> ListedSnapshot {
        for path in ["a/b/one", "a/b/two", "a/three", "other/four"] as [FilePath] {
            try files.makeDirectory(path.removingLastComponent())
            try files.write(path, "\(path)")
        }
        return try sandbox.capture()
    }

    @Test("only the restored part is undone") func part() throws {
        let snapshot = try capture()
        try files.write("a/b/one", "changed")
        try files.write("a/b/new", "new")
        let before = try listing()
        _ = try archive.restore(snapshot, RestoreOptions(path: .at("a/b")))
        try files.write("other/four", "work done since, elsewhere")
        let elsewhere = try listing().without(below: "a")
        let results = try archive.undo(root())
        #expect(try results[0].restore.path == .at("a/b") && results[0].restore.warnings == [])
        try listing().below("a/b").expect(equals: before.below("a/b"), "inside")
        try listing().without(below: "a").expect(equals: elsewhere, "outside")
        _ = try archive.redo(root())
        #expect(try files.read("a/b/one") == Array("a/b/one".utf8) && !files.exists("a/b/new"))
        try listing().without(below: "a").expect(equals: elsewhere, "outside, again")
    }

    /// A part that did not exist is removed, with the directories that were created above it.
    @Test("a part that did not exist before the restore is removed") func missingPart() throws {
        let snapshot = try capture()
        try files.remove("a")
        let before = try listing()
        _ = try archive.restore(snapshot, RestoreOptions(path: .at("a/b/one")))
        let restored = try listing()
        #expect(files.exists("a/b/one") && !files.exists("a/three"))
        let results = try archive.undo(root())
        #expect(try results[0].restore.path == .at("a"))
        try sandbox.expectRoot(equals: before)
        _ = try archive.redo(root())
        try sandbox.expectRoot(equals: restored)
        // The same if they are already removed.
        try files.remove("a")
        _ = try archive.undo(root())
        #expect(!files.exists("a"))
    }

    /// A directory above the part has become a file: the directory is restored too, and the file is not lost.
    @Test("a file in place of a directory above the part is replaced") func fileInTheWay() throws {
        let snapshot = try capture()
        try files.write("a/b/one", "changed")
        _ = try archive.restore(snapshot, RestoreOptions(path: .at("a/b/one")))
        try files.remove("a")
        try files.write("a", "in the way")
        let inTheWay = try listing()
        let reported = try archive.undo(root(), ReversalOptions(isDryRun: true))[0].restore
        #expect(reported.replaced == 1 && reported.created == 4)
        let results = try archive.undo(root())
        #expect(try results[0].restore.path == .at("a") && results[0].restore.warnings == [])
        #expect(results[0].restore.replaced == 1 && results[0].restore.created == 4)
        #expect(try files.read("a/b/one") == Array("changed".utf8) && files.read("a/three") == Array("a/three".utf8))
        _ = try archive.redo(root())
        try sandbox.expectRoot(equals: inTheWay)
    }

    @Test("steps of different parts are undone one by one") func steps() throws {
        let first = try capture()
        for path in ["a/b/one", "a/three", "other/four"] as [FilePath] { try files.write(path, "second") }
        let second = try listing()
        for path in ["a/b", "other", "a"] as [FilePath] {
            _ = try archive.restore(first, RestoreOptions(path: .at(path)))
        }
        let options = ReversalOptions(steps: 3, isDryRun: true)
        let reported = try archive.undo(root(), options)
        #expect(reported.map(\.restore.path.description) == ["a", "other", "a/b"])
        // Each change is reported by the step that makes it, not by the first.
        #expect(reported.map(\.restore.replaced) == [1, 1, 1])
        let undone = try archive.undo(root(), ReversalOptions(steps: 3))
        #expect(undone.map(\.restore.replaced) == [1, 1, 1])
        try sandbox.expectRoot(equals: second)
        try sandbox.expectCleanArchive()
    }

    @Test("ignored files are never changed") func ignoredFiles() throws {
        try files.write(".archiverignore", "*.log\n")
        let snapshot = try capture()
        try files.remove("a")
        _ = try archive.restore(snapshot, RestoreOptions(path: .at("a")))
        try files.write("a/b/run.log", "ignored")
        let result = try archive.undo(root())[0].restore
        #expect(
            try files.read("a/b/run.log") == Array("ignored".utf8)
                && files.names() == [".archiverignore", "a", "other"])
        #expect(!files.exists("a/b/one") && !files.exists("a/three"))
        #expect(result.warningCount == 2, "\(result.warnings)")
        #expect(try archive.operations().allSatisfy(\.isComplete))
    }

    // MARK: A deleted root

    @Test("undoing the restore of a deleted root empties it") func deletedRoot() throws {
        let snapshot = try capture()
        let root = try root()
        let state = try listing()
        try files.removeAll()
        let restored = try archive.restore(snapshot)
        #expect(restored.undo == nil && restored.operation != nil)
        try sandbox.expectRoot(equals: state)
        let reported = try archive.undo(root, ReversalOptions(isDryRun: true))[0].restore
        let undone = try archive.undo(root)[0]
        #expect(undone.restore.deleted == 7 && reported.deleted == 7 && undone.snapshot == nil)
        #expect(undone.restore.warnings == [])
        #expect(try files.names().isEmpty, "the root itself stays")
        _ = try archive.redo(root)
        try listing().without(below: "").expect(equals: state.without(below: ""), "redone")
        #expect(try files.names() == ["a", "other"] && files.read("a/b/two") == Array("a/b/two".utf8))
    }

    @Test("undo restores a part of a deleted root") func partOfDeletedRoot() throws {
        let snapshot = try capture()
        try files.write("a/b/one", "changed")
        let root = try root()
        _ = try archive.restore(snapshot, RestoreOptions(path: .at("a/b")))
        try files.removeAll()
        #expect(try archive.undo(root, ReversalOptions(isDryRun: true))[0].restore.created == 3)
        let undone = try archive.undo(root)[0]
        #expect(undone.restore.created == 3)
        #expect(try files.read("a/b/one") == Array("changed".utf8) && !files.exists("other"))
        // The state before that has no root.
        _ = try archive.redo(root)
        #expect(try files.names().isEmpty)
    }

    /// A part that did not exist before need not be removed.
    @Test("undo removes nothing from a deleted root") func nothingToRemove() throws {
        let snapshot = try capture()
        try files.remove("a")
        let root = try root()
        _ = try archive.restore(snapshot, RestoreOptions(path: .at("a")))
        try files.removeAll()
        #expect(try archive.undo(root, ReversalOptions(isDryRun: true))[0].restore.deleted == 0)
        #expect(try archive.undo(root)[0].restore.deleted == 0)
        #expect(!sandbox.base.exists("root"))
        #expect(try archive.operations().map(\.isComplete) == [true, true])
    }
}
