// `archiver mark`, `archiver turns` and `archiver rewind` as hooks of assistants use them.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct TurnTests {
    /// Runs `archiver` in the tree.
    private func run(_ work: Workplace, _ words: String...) throws -> ChildProcess.Outcome {
        try work.run(words.map { Array($0.utf8) }, in: work.root)
    }

    private func watch(_ work: Workplace) throws -> ChildProcess {
        let watcher = try work.start("watch", work.root.string, "--json", "--settle", "1h", "--max-delay", "2h")
        _ = try watcher.line { $0.contains("\"event\":\"watching\"") }
        return watcher
    }

    @Test("each turn lists the changes from its mark to the next, and rewind goes back to before it")
    func turns() throws {
        let work = try Workplace()
        let watcher = try watch(work)
        try work.write("notes/todo.txt", "by hand\n")
        try work.copyTree(to: "first")
        let first = try run(work, "mark", "--wait", "first\nand more")
        #expect(first.status == 0 && first.text.contains("as 'first'"), "\(first.text)\(first.errorText)")
        try work.write("made", "made\n")
        try work.copyTree(to: "second")
        let second = try JSON.object(try run(work, "mark", "--wait", "--json", "second").output)
        #expect(second["name"] as? String == "second")
        #expect(second["snapshot"] as? String == (try work.listed().last))
        try work.write("notes/todo.txt", "worse\n")
        try work.remove("tree/empty")
        #expect(try run(work, "sync").status == 0)

        let turns = try JSON.array(run(work, "turns", "--files", "--json").output)
        #expect(turns.map { $0["name"] as? String } == ["second", "first"])
        #expect(turns.map { $0["added"] as? Int } == [0, 1] && turns.map { $0["removed"] as? Int } == [1, 0])
        let files = turns.map { ($0["changedPaths"] as? [[String: String]])?.compactMap { $0["path"] } }
        #expect(files == [["empty", "notes/todo.txt"], ["made"]])

        let foretold = try run(work, "rewind", "--dry-run")
        #expect(foretold.status == 0 && foretold.text.contains("would restore"), "\(foretold.text)")
        let back = try run(work, "rewind")
        #expect(back.status == 0 && back.text.contains("archiver undo"), "\(back.text)\(back.errorText)")
        #expect(try work.difference(of: work.root, and: "second").isEmpty)
        #expect(try run(work, "rewind", "first").status == 0)
        #expect(try work.difference(of: work.root, and: "first").isEmpty)
        #expect(try run(work, "undo", "--steps", "2").status == 0)
        #expect(try work.read("tree/notes/todo.txt") == Array("worse\n".utf8))
        #expect(throws: (any Error).self) { try work.read("tree/empty") }
        watcher.send(SIGTERM)
        #expect(try watcher.finish().status == 0)
    }

    @Test("a rewind is undone, and marks survive a rebuilt catalogue")
    func rebuilt() throws {
        let work = try Workplace()
        _ = try work.capture()
        #expect(try run(work, "mark", "--wait", "one").status == 0)
        try work.write("made", "made\n")
        #expect(try run(work, "mark", "--wait", "two").status == 0)
        let turns = try run(work, "turns", "--json").output
        #expect(try JSON.array(turns).count == 2)
        let rewound = try run(work, "rewind", "2")
        #expect(rewound.status == 0, "\(rewound.errorText)")
        #expect(throws: (any Error).self) { try work.read("tree/made") }
        let operations = try run(work, "operations", "--json").output
        #expect(try JSON.array(operations).compactMap { $0["kind"] as? String } == ["restore"])

        #expect(try work.run("repair", "--catalogue").status == 0)
        #expect(try JSON.array(run(work, "turns", "--json").output).map { $0["name"] as? String } == ["two", "one"])
        #expect(try run(work, "operations", "--json").output == operations)
        #expect(try run(work, "undo").status == 0)
        #expect(try work.read("tree/made") == Array("made\n".utf8))
        #expect(try work.run("check").status == 0)
    }

    @Test("a rewind leaves repositories alone, and so does its undo")
    func repositories() throws {
        let work = try Workplace()
        let kept = [".git/HEAD", "sub/.git", "tools/.hg/store", "bare/HEAD", "bare/objects/one", "bare/refs/main"]
        for name in ["code"] + kept { try work.write(name, "old") }
        _ = try work.capture()
        #expect(try run(work, "mark", "--wait", "turn").status == 0)
        for name in ["code"] + kept { try work.write(name, "new") }
        try work.write(".git/objects/commit", "made in the turn")
        let planned = try run(work, "rewind", "--dry-run").text
        #expect(planned.contains("replace   code") && !planned.contains("HEAD"), "\(planned)")
        #expect(planned.contains("of repositories left alone"), "\(planned)")
        #expect(try run(work, "rewind").status == 0)
        func expect(_ code: String, _ repositories: String) throws {
            #expect(try work.read("tree/code") == Array(code.utf8))
            for name in kept { #expect(try work.read("tree/\(name)") == Array(repositories.utf8), "\(name)") }
        }
        try expect("old", "new")
        // A commit after the rewind survives its undo.
        for name in kept { try work.write(name, "later") }
        #expect(try run(work, "undo").status == 0)
        try expect("new", "later")
        #expect(try work.read("tree/.git/objects/commit") == Array("made in the turn".utf8))
        let whole = try run(work, "rewind", "--with-git")
        #expect(whole.status == 0 && whole.errorText.contains("repositories"), "\(whole.errorText)")
        try expect("old", "old")
        #expect(throws: (any Error).self) { try work.read("tree/.git/objects/commit") }
    }

    @Test("mark does not wait for a long capture: it reports that, and the watcher makes the mark afterwards")
    func patience() throws {
        let work = try Workplace()
        let watcher = try watch(work)
        try work.write("made", "made\n")
        let start = ContinuousClock.now
        do {
            let lock = try work.blockCaptures()
            let marked = try run(work, "mark", "busy")
            #expect(marked.status == 1 && !marked.errorText.isEmpty, "\(marked.errorText)")
            // A busy machine can start a program late; the watcher itself gives up after 10 seconds.
            #expect(ContinuousClock.now - start < .seconds(8))
            withExtendedLifetime(lock) {}
        }
        #expect(try run(work, "mark", "--wait", "later").status == 0)
        let names = try JSON.array(run(work, "turns", "--json").output).compactMap { $0["name"] as? String }
        #expect(names.contains("later"))
        watcher.send(SIGTERM)
        #expect(try watcher.finish().status == 0)
    }

    /// Runs its arguments with stderr as a full pipe without a reader.
    private static let withFullPipe = """
        import os, subprocess, sys
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        try:
            while True: os.write(writer, b"x")
        except BlockingIOError: pass
        os.set_blocking(writer, True)
        sys.exit(subprocess.run(sys.argv[1:], stderr=writer).returncode)
        """

    @Test("mark does not wait for a stopped watcher")
    func stopped() throws {
        let work = try Workplace()
        let watcher = try watch(work)
        watcher.send(SIGSTOP)
        // The stopped watcher never answers; a command that waited for it would not end.
        for words in [["mark", "stopped"], ["mark", "--json", "--quiet", "stopped"]] {
            let marked = try work.run(words.map { Array($0.utf8) }, in: work.root)
            #expect(marked.status == 1 && marked.errorText.contains("--wait"), "\(marked.errorText)")
            #expect(marked.output.isEmpty)
        }
        // It does not wait for the reader of stderr either: the pipe is full before it starts.
        let full = try ChildProcess.run(
            "python3",
            (["-c", TurnTests.withFullPipe, Workplace.program.string, "mark", "full", "--root", work.root.string])
                .map { Array($0.utf8) }, environment: ["ARCHIVER_ARCHIVE": work.archive.string])
        #expect(full.status == 1, "\(full.errorText)")
        watcher.send(SIGCONT)
        #expect(try run(work, "mark", "--wait", "later").status == 0)
        let names = try JSON.array(run(work, "turns", "--json").output).compactMap { $0["name"] as? String }
        #expect(names.contains("later"))
        watcher.send(SIGTERM)
        #expect(try watcher.finish().status == 0)
    }

    @Test("without a watcher, or with an unsuitable name, mark reports why there is no mark")
    func refused() throws {
        let work = try Workplace()
        _ = try work.capture()
        let unwatched = try run(work, "mark", "turn")
        #expect(unwatched.status == 1, "\(unwatched.errorText)")
        let blank = try run(work, "mark", "--wait", " ")
        #expect(blank.status == 64 && blank.errorText.contains("it is blank"), "\(blank.errorText)")
        let nothing = try run(work, "rewind")
        #expect(nothing.status == 1 && nothing.errorText.contains("there are no marks"), "\(nothing.errorText)")
        #expect(try run(work, "turns").errorText.contains("archiver mark NAME"))
        #expect(try run(work, "mark", "--wait", "before").status == 0)
        let misspelt = try run(work, "rewind", "befor")
        #expect(misspelt.status == 1 && misspelt.errorText.contains("did you mean 'before'?"), "\(misspelt.errorText)")
        let far = try run(work, "rewind", "2")
        #expect(far.status == 1 && far.errorText.contains("only 1 mark"), "\(far.errorText)")
        #expect(try run(work, "rewind", "0").status == 64)
        let long = try run(work, "mark", "--wait", "--json", String(repeating: "é", count: 3000))
        #expect((try JSON.object(long.output)["name"] as? String)?.count == 201)
    }

    @Test("a run keeps its label, and a mark made during it does not prevent its undo")
    func label() throws {
        let work = try Workplace()
        _ = try work.capture()
        let mark = "\(Workplace.program) mark --wait inside"
        let outcome = try run(
            work, "run", "--name", "clean-up", "--undo-on-failure", "--", "sh", "-c", "\(mark) >&2; rm empty; exit 1")
        #expect(outcome.status == 1 && outcome.errorText.contains(": undone; "), "\(outcome.errorText)")
        let operations = try JSON.array(run(work, "operations", "--json").output)
        #expect(operations.first?["name"] as? String == "clean-up")
        #expect(operations.compactMap { $0["kind"] as? String } == ["run", "undo"])
    }
}
