// Paths in commands are relative to the current directory.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct PathTests {
    /// A workplace with a chapter, captured twice.
    private static func workplace() throws -> Workplace {
        let work = try Workplace()
        try work.write("chapters/ch1.md", "first\n")
        try work.write("chapters/deep/note", "note\n")
        _ = try work.capture()
        try work.write("chapters/ch1.md", "second\n")
        try work.write("notes/todo.txt", "three\n")
        _ = try work.capture()
        return work
    }

    private static func run(
        _ work: Workplace, in place: String, _ arguments: String...
    ) throws -> ChildProcess.Outcome {
        try work.run(arguments.map { Array($0.utf8) }, in: work.path(place))
    }

    @Test(
        "a path after a selector is relative to the current directory",
        arguments: [
            ("tree/chapters", "ch1.md"), ("tree/chapters", "./ch1.md"), ("tree/chapters/deep", "../ch1.md"),
            ("tree/notes", "../chapters/./ch1.md"), ("tree/notes", ":/chapters/ch1.md"), ("tree", "chapters/ch1.md"),
            ("tree", ":/chapters/ch1.md"), ("archive", "chapters/ch1.md"), ("archive", ":/chapters/ch1.md"),
        ])
    func relative(place: String, path: String) throws {
        let work = try PathTests.workplace()
        let id = try #require(try work.listed().first)
        let outcome = try PathTests.run(work, in: place, "cat", "\(id):\(path)")
        #expect(outcome.text == "first\n", "\(outcome.errorText)")
    }

    @Test("an absolute path below the root works, also through a link to the root")
    func absolute() throws {
        let work = try PathTests.workplace()
        symlink("tree", work.path("link").string)
        for place in ["tree/notes", "archive", "tree"] {
            for path in [
                work.root.string + "/chapters/ch1.md", work.path("link").string + "/chapters/../chapters/ch1.md",
            ] {
                let outcome = try PathTests.run(
                    work, in: place, "cat", "latest~1:\(path)", "--root", work.root.string)
                #expect(outcome.text == "first\n", "\(place) \(path): \(outcome.errorText)")
            }
        }
    }

    @Test("with --root, paths are relative to the root's top, whatever the current directory")
    func explicitRoot() throws {
        let work = try PathTests.workplace()
        let outcome = try PathTests.run(
            work, in: "tree/chapters", "cat", "latest:chapters/ch1.md", "--root", work.root.string)
        #expect(outcome.text == "second\n", "\(outcome.errorText)")
    }

    @Test("restoring . in a subdirectory restores only that directory")
    func restoreHere() throws {
        let work = try PathTests.workplace()
        let id = try #require(try work.listed().first)
        let outcome = try PathTests.run(work, in: "tree/chapters", "restore", "\(id):.")
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(try work.read("tree/chapters/ch1.md") == Array("first\n".utf8))
        #expect(try work.read("tree/notes/todo.txt") == Array("three\n".utf8))
        #expect(try PathTests.run(work, in: "tree/chapters", "restore", "\(id)::/notes").status == 0)
        #expect(try work.read("tree/notes/todo.txt") == Array("one\ntwo\n".utf8))
    }

    @Test("show and diff resolve paths from the current directory")
    func showAndDiff() throws {
        let work = try PathTests.workplace()
        let shown = try PathTests.run(work, in: "tree/chapters", "show", "latest:deep", "--json")
        let entry = try JSON.object(shown.output)["entry"] as? [String: Any]
        #expect(entry?["path"] as? String == "chapters/deep")
        #expect(
            try PathTests.run(work, in: "tree/chapters", "diff", "latest~1:.", "latest").lines
                == ["~ chapters/ch1.md (content, time)"])
        #expect(
            try PathTests.run(work, in: "tree/chapters", "diff", "latest~1:../notes/todo.txt", "latest").lines
                == ["~ notes/todo.txt (content, time)"])
    }

    @Test("a path outside of the root is refused and named")
    func outside() throws {
        let work = try PathTests.workplace()
        for path in ["../../archive", "/etc/passwd", ":/../x", "../../treehouse"] {
            let outcome = try PathTests.run(work, in: "tree/chapters", "restore", "latest:\(path)")
            expectRefusal(outcome, 64, naming: path)
            #expect(outcome.errorText.contains("is outside of \(work.root)"), "\(outcome.errorText)")
        }
    }

    @Test("for a path meant from the root's top, the correct form is suggested")
    func meantFromTop() throws {
        let work = try PathTests.workplace()
        for command in ["cat", "show", "diff", "restore"] {
            let outcome = try PathTests.run(work, in: "tree/chapters", command, "latest~1:chapters/ch1.md")
            expectRefusal(outcome, 1, naming: "chapters/chapters/ch1.md")
            #expect(outcome.errorText.contains("write ':/chapters/ch1.md'"), "\(command): \(outcome.errorText)")
        }
        let directory = try PathTests.run(work, in: "tree/notes", "cat", "latest:../chapters")
        #expect(directory.errorText.contains("show "), "\(directory.errorText)")
        #expect(directory.errorText.contains("::/chapters'"), "\(directory.errorText)")
    }
}
