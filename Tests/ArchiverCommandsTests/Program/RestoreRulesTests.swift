// Exclusions in restores: counted, the same in a dry run, and never applied to paths that the user names.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct RestoreRulesTests {
    private func restore(_ work: Workplace, _ arguments: String...) throws -> ChildProcess.Outcome {
        try work.run(["restore"] + arguments + ["--root", work.root.string])
    }

    private func text(_ work: Workplace, _ name: String) throws -> String {
        String(decoding: try work.read("tree/" + name), as: UTF8.self)
    }

    @Test("a named path is restored although the current rules exclude it, and undo reverts that")
    func named() throws {
        let work = try Workplace()
        for name in ["a.o", "build/out/x", "build/y"] { try work.write(name, "old") }
        let id = try work.capture()
        #expect(
            try work.run("capture", work.root.string, "--reset-exclusions", "--exclude", "*.o", "--exclude", "/build/")
                .status == 0)
        for name in ["a.o", "build/out/x", "build/y"] { try work.write(name, "precious") }
        try work.copyTree(to: "before")
        for path in ["a.o", "build/out", "build/out/x"] {
            let reported = try restore(work, "\(id):\(path)", "--dry-run")
            #expect(reported.status == 0 && reported.text.contains("replace "), "\(path): \(reported.text)")
            let outcome = try restore(work, "\(id):\(path)")
            #expect(outcome.status == 0 && outcome.text.contains("1 replaced"), "\(path): \(outcome.text)")
            #expect(try text(work, path == "a.o" ? path : "build/out/x") == "old")
            #expect(try text(work, "build/y") == "precious")
            let again = try restore(work, "\(id):\(path)").text
            #expect(again.hasPrefix("nothing to do: ") && !again.contains("excluded"), "\(path): \(again)")
            #expect(try work.run("undo", work.root.string).status == 0)
            #expect(try work.difference(of: work.root, and: "before") == "", "\(path)")
        }
        try work.remove("tree/build/out")
        #expect(try restore(work, "\(id):build/out").status == 0)
        #expect(try text(work, "build/out/x") == "old")
        #expect(try work.run("undo", work.root.string).status == 0)
        #expect(access(work.path("tree/build/out").string, F_OK) != 0)
        // Excluded files are in no later snapshot.
        #expect(try !work.run("show", "--entries", "latest", "--root", work.root.string).text.contains("build"))
        #expect(try work.run("check", "--data").status == 0)
    }

    @Test("paths excluded by the current rules are counted, and only equal trees are reported as equal")
    func counted() throws {
        let work = try Workplace()
        for name in ["a.o", "d/b.o", "c"] { try work.write(name, "old") }
        let id = try work.capture()
        #expect(try work.run("capture", work.root.string, "--reset-exclusions", "--exclude", "*.o").status == 0)
        for name in ["a.o", "c"] { try work.write(name, "new") }
        try work.remove("tree/d/b.o")
        for arguments in [["--dry-run"], []] {
            let outcome = try work.run(["restore", id, "--root", work.root.string] + arguments)
            #expect(outcome.text.contains("1 replaced") && outcome.text.contains("2 paths excluded"), "\(outcome.text)")
        }
        #expect(try text(work, "a.o") == "new" && text(work, "c") == "old")
        let again = try restore(work, id)
        #expect(again.text.hasPrefix("nothing to do: "), "\(again.text)")
        #expect(again.text.contains(", except excluded paths; 2 paths excluded by rules"), "\(again.text)")
        #expect(try JSON.object(restore(work, id, "--json").output)["excluded"] as? Int == 2)
    }

    @Test("paths that an ignore file excludes are left alone and counted, even if the restore is to a state before it")
    func ignoreFiles() throws {
        let work = try Workplace()
        for name in ["a.o", "out/a", "c"] { try work.write(name, "old") }
        let id = try work.capture()
        try work.write(".gitignore", "*.o\nout\n")
        try work.write(".archiverignore", "secret.env\n")
        for name in ["a.o", "out/b", "c", "secret.env"] { try work.write(name, "precious") }
        #expect(try work.run("capture", work.root.string, "--reset-exclusions", "--use-gitignore").status == 0)
        try work.copyTree(to: "before")
        let reported = try JSON.object(restore(work, id, "--dry-run", "--json").output)
        let done = try JSON.object(restore(work, id, "--json").output)
        for key in ["created", "replaced", "deleted", "excluded"] {
            #expect(reported[key] as? Int == done[key] as? Int, "\(key)")
        }
        #expect(done["excluded"] as? Int ?? 0 >= 3 && done["deleted"] as? Int == 0, "\(done)")
        for name in ["a.o", "out/b", "secret.env"] { #expect(try text(work, name) == "precious", "\(name)") }
        #expect(try text(work, "c") == "old")
        let again = try restore(work, id).text
        #expect(again.hasPrefix("nothing to do: ") && again.contains("excluded"), "\(again)")
        #expect(try work.run("undo", work.root.string).status == 0)
        #expect(try work.difference(of: work.root, and: "before") == "")
        // Neither the snapshots before and after, nor those of the undo, have the excluded content.
        for snapshot in try work.listed() {
            let held = try work.run("show", "--entries", snapshot).text
            #expect(!held.contains("secret.env") && !held.contains("out/b"), "\(held)")
        }
    }

    @Test("paths that the wanted snapshot excluded are left unchanged and counted, each time")
    func excludedThen() throws {
        let work = try Workplace()
        try work.write(".archiverignore", "*.o\n")
        try work.write("c", "old")
        let id = try work.capture()
        try work.write(".archiverignore", "")
        try work.write("a.o", "precious")
        try work.write("c", "new")
        let reported = try JSON.object(restore(work, id, "--dry-run", "--json").output)
        let done = try JSON.object(restore(work, id, "--json").output)
        #expect(reported["excluded"] as? Int == 1 && done["excluded"] as? Int == 1)
        #expect(reported["replaced"] as? Int == done["replaced"] as? Int)
        #expect(try text(work, "a.o") == "precious" && text(work, "c") == "old")
        #expect(try restore(work, id).text.hasPrefix("nothing to do"))
    }
}
