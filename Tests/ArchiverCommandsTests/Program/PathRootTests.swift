// Paths choose their root, from any directory; no command uses a root only because it is the archive's only one.

import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct PathRootTests {
    /// A place with two roots, `tree` and `other`, each with a file `notes/todo.txt`, and a directory without a root.
    private static func place(roots: Int = 2) throws -> Workplace {
        let work = try Workplace()
        _ = try work.capture()
        try work.copyTree(to: "other")
        try work.copyTree(to: "elsewhere")
        if roots > 1 { #expect(try work.run("capture", work.path("other").string).status == 0) }
        return work
    }

    private static func run(_ work: Workplace, in directory: String, _ words: [String]) throws -> ChildProcess.Outcome {
        try work.run(words.map { Array($0.utf8) }, in: work.path(directory))
    }

    @Test("an absolute path chooses its root in every command, from anywhere")
    func absolutePaths() throws {
        let work = try Self.place()
        let file = work.path("other/notes/todo.txt").string
        for words in [
            ["log", file], ["log", "latest:" + file], ["blame", file], ["grep", "one", file],
            ["deleted", work.path("other").string],
            ["cat", "latest:" + file], ["cat", "latest", file], ["show", "latest:" + file], ["diff", "latest:" + file],
            ["restore", "latest:" + file, "--dry-run"], ["restore", "latest", file, "--dry-run"],
            ["usage", work.path("other/notes").string], ["purge", file, "--dry-run"], ["changes", "oldest:" + file],
        ] {
            for directory in ["elsewhere", "tree"] {
                let outcome = try Self.run(work, in: directory, words)
                #expect(outcome.status == 0, "\(words) in \(directory): \(outcome.errorText)")
            }
        }
        expectRefusal(
            try Self.run(work, in: "elsewhere", ["log", "/no/such/root/x"]), 1,
            naming: "no snapshots of /no/such/root/x")
        expectRefusal(
            try Self.run(work, in: "elsewhere", ["log", file, work.path("tree/empty").string]), 64,
            naming: "are in different roots")
    }

    @Test("a path below the current directory chooses its root")
    func pathsBelow() throws {
        let work = try Self.place()
        for words in [
            ["log", "other/notes/todo.txt"], ["cat", "latest:other/notes/todo.txt"], ["grep", "one", "other"],
        ] {
            let outcome = try Self.run(work, in: "", words)
            #expect(outcome.status == 0, "\(words): \(outcome.errorText)")
        }
        // A root inside a root is the innermost one that holds the path.
        try work.write("inner/file", "inner\n")
        #expect(try work.run("capture", work.path("tree/inner").string).status == 0)
        let inner = try Self.run(work, in: "tree", ["log", "inner/file", "--json"])
        #expect(try JSON.array(inner.output).first?["path"] as? String == "file")
    }

    @Test("a directory inside a root names that root for status, sync and audit")
    func directories() throws {
        let work = try Self.place()
        let status = try JSON.object(Self.run(work, in: "elsewhere", ["status", "../other/notes", "--json"]).output)
        #expect((status["roots"] as? [[String: Any]])?.first?["root"] as? String == work.path("other").string)
        let synced = try Self.run(work, in: "elsewhere", ["sync", "../other/notes", "--json"])
        #expect(try JSON.object(synced.output)["root"] as? String == work.path("other").string)
    }

    @Test(
        "in a directory that is no root and holds none, no command uses the only root",
        arguments: [
            ["label", "latest", "mine"], ["pin", "latest"], ["note", "mine"], ["forget", "latest"],
            ["unpin", "latest"],
            ["show", "latest"], ["cat", "latest:empty"], ["diff"], ["log"], ["log", "empty"], ["deleted"], ["sessions"],
            ["undo"], ["turns"], ["purge", "empty", "--yes"],
        ])
    func onlyRoot(words: [String]) throws {
        let work = try Self.place(roots: 1)
        let before = try work.run("list", "--json", "--root", work.root.string).output
        let outcome = try Self.run(work, in: "elsewhere", words)
        expectRefusal(outcome, 64, naming: "the current directory is not in \(work.root)")
        #expect(outcome.errorText.contains("--root"), "\(outcome.errorText)")
        #expect(try work.run("list", "--json", "--root", work.root.string).output == before)
    }

    @Test("status says that the current directory is in no root")
    func status() throws {
        let work = try Self.place(roots: 1)
        let elsewhere = try Self.run(work, in: "elsewhere", ["status"])
        #expect(elsewhere.errorText.contains("'archiver watch .'"), "\(elsewhere.errorText)")
        #expect(try !Self.run(work, in: "tree", ["status"]).errorText.contains("archiver watch ."))
        let lines = try Self.run(work, in: "tree", ["status", "-q"]).lines
        #expect(lines.count == 1 && lines[0].contains(work.root.string), "\(lines)")
    }

    @Test("a printed command with a root of any name can be pasted")
    func pasted() throws {
        let work = try Workplace()
        let name = "a\nb 'c' \"d\" $e \\f"
        try work.copyTree(to: name)
        let root = work.path(name)
        #expect(try work.run("capture", root.string).status == 0)
        let outcome = try work.run("restore", "oldest", "--root", root.string)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let refused = try Self.run(work, in: "tree", ["diff"])
        let option = try #require(refused.errorText.firstMatch(of: /name it with '(--root .*)', or change/)?.1)
        let shell = try ChildProcess.run(
            "bash", ["-c", "'\(Workplace.program)' list --json \(option)"].map { Array($0.utf8) },
            environment: ["ARCHIVER_ARCHIVE": work.archive.string, "HOME": work.path("").string],
            directory: work.path("tree"))
        #expect(shell.status == 0, "\(option): \(shell.errorText)")
        #expect(try JSON.array(shell.output).first?["root"] as? String == root.string)
    }
}
