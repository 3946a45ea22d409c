// A snapshot is restored in place only into its own root, which is named or contains the current directory.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct RestorePlaceTests {
    /// Two roots in one archive, each changed since it was captured.
    private func twoRoots() throws -> (work: Workplace, id: String, other: FilePath) {
        let work = try Workplace()
        let id = try work.capture()
        let other = work.path("other")
        #expect(mkdir(other.string, 0o755) == 0)
        try work.write("../other/file", "other")
        #expect(try work.run("capture", other.string).status == 0)
        try work.write("notes/todo.txt", "precious\n")
        try work.write("new", "precious\n")
        try work.copyTree(to: "tree before")
        try work.copyTree(to: "other before", from: other)
        return (work, id, other)
    }

    private func expectUntouched(_ work: Workplace, _ other: FilePath) throws {
        #expect(try work.difference(of: work.root, and: "tree before") == "")
        #expect(try work.difference(of: other, and: "other before") == "")
    }

    @Test("a snapshot is not restored into another root, nor into its own if another is named")
    func otherRoot() throws {
        let (work, id, other) = try twoRoots()
        for arguments in [[id], [id, "--dry-run"], ["\(id):notes"]] {
            let outcome = try work.run(["restore"] + arguments + ["--root", other.string])
            expectRefusal(outcome, 64, naming: work.root.string)
            #expect(outcome.errorText.contains("--target") && outcome.errorText.contains("--root"))
            try expectUntouched(work, other)
        }
        let json = try work.run("restore", id, "--root", other.string, "--json")
        #expect((try JSON.object(json.errorText)["error"] as? [String: Any])?["code"] as? String == "otherRoot")
        #expect(try work.run("restore", id, "--target", work.path("out").string).status == 0)
        try expectUntouched(work, other)
    }

    @Test("a root that does not contain the current directory must be named, even if it is the only one")
    func elsewhere() throws {
        let (work, id, other) = try twoRoots()
        expectRefusal(try work.run("restore", id), 64, naming: work.root.string)
        expectRefusal(try work.run([Array("restore".utf8), Array(id.utf8)], in: other), 64, naming: "--root")
        try expectUntouched(work, other)
        #expect(try work.run([Array("restore".utf8), Array(id.utf8)], in: work.root.appending("notes")).status == 0)
        #expect(try work.read("tree/notes/todo.txt") == Array("one\ntwo\n".utf8))
        #expect(try work.run("undo", work.root.string).status == 0)
        try expectUntouched(work, other)

        let single = try Workplace()
        let only = try single.capture()
        try single.write("new", "precious")
        for arguments in [["restore", only], ["restore", "latest"], ["undo"], ["redo"]] {
            expectRefusal(try single.run(arguments), 64, naming: single.root.string)
        }
        #expect(try single.read("tree/new") == Array("precious".utf8))
        #expect(try single.run("restore", only, "--root", single.root.string).status == 0)
    }

    @Test("a root that was replaced by a link is not restored through the link")
    func link() throws {
        let (work, id, other) = try twoRoots()
        #expect(rename(work.root.string, work.path("moved").string) == 0)
        #expect(symlink("other", work.root.string) == 0)
        let outcome = try work.run("restore", id, "--root", work.root.string)
        #expect(outcome.status != 0, "\(outcome.text)")
        #expect(try work.difference(of: other, and: "other before") == "")
    }

    @Test("a single file is restored to a new name, or into an empty directory")
    func newName() throws {
        let work = try Workplace()
        try work.write("b.txt", "2")
        let id = try work.capture()
        let target = work.path("new/name.txt").string
        let outcome = try work.run("restore", "\(id):b.txt", "--target", target, "--root", work.root.string)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(try work.read("new/name.txt") == Array("2".utf8))
        let again = try work.run("restore", "\(id):b.txt", "--target", target, "--root", work.root.string)
        #expect(again.status == 1 && again.errorText.contains("name.txt"), "\(again.errorText)")
        #expect(mkdir(work.path("empty").string, 0o755) == 0)
        let inside = try work.run(
            "restore", "\(id):b.txt", "--target", work.path("empty").string, "--root", work.root.string)
        #expect(inside.status == 0, "\(inside.errorText)")
        #expect(try work.read("empty/b.txt") == Array("2".utf8))
    }

    @Test("a root of another machine is restored in place only if it is named")
    func otherMachine() throws {
        let work = try Workplace()
        // The tree was captured by another machine.
        #expect(try work.run("capture", work.root.string, environment: ["ARCHIVER_MACHINE_ID": "other"]).status == 0)
        try work.write("new", "precious")
        let here = try work.run([Array("restore".utf8), Array("latest".utf8)], in: work.root)
        expectRefusal(here, 64, naming: work.root.string)
        #expect(try work.read("tree/new") == Array("precious".utf8))
        let named = try work.run("restore", "latest", "--root", work.root.string)
        #expect(named.status == 0, "\(named.errorText)")
        #expect(access(work.path("tree/new").string, F_OK) != 0)
        #expect(try work.run("undo", work.root.string).status == 0)
        #expect(try work.read("tree/new") == Array("precious".utf8))
    }
}
