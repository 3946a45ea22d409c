// The library's history of files and directories: versions, deleted paths, whereabouts.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit

@Suite("Versions", .blocking) struct VersionTests {
    private func root(_ sandbox: Sandbox) throws -> ArchivedRoot { try #require(try sandbox.archive.roots().first) }

    private func log(_ path: FilePath, _ sandbox: Sandbox, follow: Bool = true) throws -> [String] {
        try sandbox.archive.history(of: .at(path), in: root(sandbox), HistoryQuery(followsRenames: follow)).map {
            "\($0.snapshot.label ?? "") \($0.change.rawValue) \($0.path)"
        }
    }

    @Test("history follows a file through renames, deletions and a directory's move")
    func follows() throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("notes")
        try sandbox.root.write("notes/a.md", "the first text, long enough to be known again\n")
        try sandbox.capture(label: "1")
        try sandbox.root.write("notes/a.md", "the second text, long enough to be known again\n")
        try sandbox.capture(label: "2")
        try sandbox.root.rename("notes/a.md", to: "notes/b.md")
        try sandbox.capture(label: "3")
        try sandbox.root.rename("notes", to: "papers")
        try sandbox.capture(label: "4")
        try sandbox.root.setPermissions("papers/b.md", 0o600)
        try sandbox.capture(label: "5")
        #expect(
            try log("papers/b.md", sandbox) == [
                "5 metadata papers/b.md", "4 renamed papers/b.md", "3 renamed notes/b.md", "2 modified notes/a.md",
                "1 added notes/a.md",
            ])
        #expect(
            try log("papers/b.md", sandbox, follow: false) == ["5 metadata papers/b.md", "4 renamed papers/b.md"])
        #expect(try log("notes/b.md", sandbox).first == "4 renamedAway notes/b.md")
        let directory = try sandbox.archive.history(ofDirectory: .at("papers"), in: root(sandbox))
        #expect(
            directory.map { "\($0.snapshot.label ?? "") \($0.path)" } == [
                "5 papers", "4 papers", "3 notes", "2 notes", "1 notes",
            ])
        #expect(try sandbox.archive.deletedPaths(in: root(sandbox)).isEmpty, "renamed is not deleted")

        try sandbox.root.remove("papers")
        try sandbox.capture(label: "6")
        let deleted = try sandbox.archive.deletedPaths(in: root(sandbox))
        #expect(deleted.map { "\($0.path) \($0.contained) \($0.lastIn.label ?? "")" } == ["papers 1 5"])
        #expect(try log("papers/b.md", sandbox).first == "6 removed papers/b.md")
        try sandbox.root.makeDirectory("papers")
        try sandbox.root.write("papers/b.md", "anew")
        try sandbox.capture(label: "7")
        #expect(try log("papers/b.md", sandbox).prefix(2) == ["7 added papers/b.md", "6 removed papers/b.md"])
        #expect(try sandbox.archive.deletedPaths(in: root(sandbox)).isEmpty)
    }

    @Test("a path missing from a snapshot is explained: deleted, renamed, added later, or misspelt")
    func whereabouts() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("notes.md", "notes, long enough to be known again")
        try sandbox.root.write("plan.md", "a plan, long enough to be known again")
        let first = try sandbox.capture()
        try sandbox.root.remove("notes.md")
        try sandbox.root.rename("plan.md", to: "project.md")
        try sandbox.root.write("new.md", "new")
        let second = try sandbox.capture()
        func whereabouts(_ path: FilePath, _ snapshot: ListedSnapshot) throws -> Whereabouts {
            try sandbox.archive.whereabouts(of: .at(path), missingFrom: snapshot)
        }
        #expect(try whereabouts("notes.md", second) == .deleted(as: .at("notes.md"), in: second, last: first))
        let project = try RelativePath.at("project.md")
        #expect(try whereabouts("plan.md", second) == .renamed(to: project, in: second))
        #expect(try whereabouts("new.md", first) == .addedLater(in: second))
        #expect(try whereabouts("projekt.md", second) == .unknown(nearest: [project]))
        #expect(try whereabouts("nothing like it", second) == .unknown(nearest: []))
    }

    @Test("the log of a name that changed from file to directory has both")
    func changesKind() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("thing", "a file")
        try sandbox.capture(label: "1")
        try sandbox.root.remove("thing")
        try sandbox.root.makeDirectory("thing")
        try sandbox.root.write("thing/inside", "x")
        try sandbox.capture(label: "2")
        let versions = try sandbox.archive.history(of: .at("thing"), in: root(sandbox))
        #expect(versions.map(\.kind) == [.directory, .file])
        #expect(versions.map(\.change) == [.modified, .added])
        let names = try sandbox.archive.names(matching: Array("thing".utf8), in: root(sandbox))
        #expect(names.count == 1 && names.first?.kind == .directory)
    }

    @Test("deleted and unchanged names are found")
    func names() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("old.key", "secret")
        try sandbox.root.write("still.key", "there")
        try sandbox.capture()
        try sandbox.root.remove("old.key")
        try sandbox.capture()
        let names = try sandbox.archive.names(matching: Array("*.key".utf8), in: root(sandbox))
        #expect(
            names.map { "\($0.path) \($0.isDeleted) \($0.versionCount)" } == ["old.key true 2", "still.key false 1"])
        ArchiverError.expect(.malformedSelector) {
            _ = try sandbox.archive.names(matching: Array("!x".utf8), in: root(sandbox))
        }
        ArchiverError.expect(.malformedSelector) { _ = try sandbox.archive.names(matching: [], in: root(sandbox)) }
    }

    @Test("log lists the same versions as git log --follow")
    func agreesWithGit() throws {
        let sandbox = try Sandbox()
        func git(_ arguments: String...) throws -> String {
            try ChildProcess.run(
                [
                    "git", "-C", sandbox.root.directory.string, "-c", "user.name=a", "-c", "user.email=a@example.org",
                    "-c", "commit.gpgsign=false",
                ] + arguments
            ).text
        }
        _ = try git("init", "-q")
        try sandbox.root.write(".archiverignore", ".git\n")
        var random = SeededGenerator("log lists the same versions as git log --follow")
        var names = ["a.txt", "b.txt", "c.txt"]
        for name in names {
            try sandbox.root.write(FilePath(name), "\(name)\n" + String(repeating: "\(name) line\n", count: 20))
        }
        for number in 0..<25 {
            let index = random.below(3)
            if number > 0, number % 6 == 0 {
                let new = number % 12 == 0 ? "dir\(number)/\(number).txt" : "renamed\(number).txt"
                if number % 12 == 0 { try sandbox.root.makeDirectory(FilePath("dir\(number)")) }
                _ = try git("mv", names[index], new)
                names[index] = new
            } else if number > 0 {
                try sandbox.root.append(FilePath(names[index]), Array("\(number)\n".utf8))
            }
            _ = try git("add", "-A")
            _ = try git("commit", "-q", "-m", "\(number)")
            try sandbox.capture(label: "\(number)")
        }
        for name in names {
            let ours = try sandbox.archive.history(of: .at(FilePath(name)), in: root(sandbox))
                .map { $0.snapshot.label ?? "" }
            let theirs = try git("log", "--follow", "--format=%s", "--", name).split(separator: "\n").map(String.init)
            #expect(ours == theirs, "\(name), seed \(random.seed)")
            #expect(!theirs.isEmpty)
        }
    }
}
