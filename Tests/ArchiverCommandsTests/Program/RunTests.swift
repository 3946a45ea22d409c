// `archiver sync` and `archiver run` as scripts and assistants use them.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct RunTests {
    /// Runs `archiver` in the tree.
    private func run(_ work: Workplace, _ words: String...) throws -> ChildProcess.Outcome {
        try work.run(words.map { Array($0.utf8) }, in: work.root)
    }

    private func operations(_ work: Workplace) throws -> [[String: Any]] {
        try JSON.array(run(work, "operations", "--json").output)
    }

    @Test("sync captures changes and prints the snapshot, with and without a watcher")
    func sync() async throws {
        let work = try Workplace()
        let first = try work.run("sync", work.root.string)
        #expect(first.status == 0, "\(first.errorText)")
        #expect(try work.listed().map { String($0.prefix(8)) } == first.lines)
        #expect(try run(work, "sync").lines == first.lines)
        let watcher = try work.start("watch", work.root.string, "--json", "--settle", "1h", "--max-delay", "2h")
        _ = try watcher.line { $0.contains("\"event\":\"watching\"") }
        try work.write("new", "new\n")
        let second = try JSON.object(try run(work, "sync", "--json").output)
        #expect(second["id"] as? String == (try work.listed().last))
        #expect(second["cause"] as? String == "watch")
        watcher.send(SIGTERM)
        #expect(try watcher.finish().status == 0)
        let lost = try work.run("sync")
        #expect(lost.status == 64 && lost.errorText.contains("name a root"), "\(lost.errorText)")
    }

    @Test("run has the command's output and status; its changes are undone and redone")
    func undo() throws {
        let work = try Workplace()
        _ = try work.capture()
        try work.copyTree(to: "before")
        let outcome = try run(
            work, "run", "--", "sh", "-c", "cat; echo out; echo three >> notes/todo.txt; rm empty; touch made; exit 7")
        #expect(outcome.status == 7)
        #expect(outcome.text == "out\n")
        #expect(outcome.errorText == "archiver: +1 ~1 -1; 'archiver undo' reverts it\n")
        try work.copyTree(to: "after")
        let logged = try #require(try operations(work).last)
        #expect(logged["kind"] as? String == "run" && logged["complete"] as? Bool == true)
        #expect(logged["next"] as? String == "undo")
        let undone = try run(work, "undo")
        #expect(undone.status == 0 && undone.text.contains("undid the run of "), "\(undone.text)\(undone.errorText)")
        #expect(try work.difference(of: work.root, and: "before").isEmpty)
        #expect(try run(work, "redo").status == 0)
        #expect(try work.difference(of: work.root, and: "after").isEmpty)
    }

    @Test("a run without changes is not an operation and does not prevent redo")
    func idle() throws {
        let work = try Workplace()
        _ = try work.capture()
        #expect(try run(work, "run", "--", "sh", "-c", "echo x >> empty").status == 0)
        #expect(try run(work, "undo").status == 0)
        let idle = try run(work, "run", "--", "true")
        #expect(idle.status == 0 && idle.errorText == "archiver: nothing changed\n", "\(idle.errorText)")
        #expect(try operations(work).count == 2)
        #expect(try run(work, "redo").status == 0)
        #expect(try work.read("tree/empty") == Array("x\n".utf8))
    }

    @Test("with the options, a command that fails or removes too much is undone")
    func undone() throws {
        let work = try Workplace()
        _ = try work.capture()
        try work.copyTree(to: "before")
        let failed = try run(work, "run", "--undo-on-failure", "--", "sh", "-c", "rm -r notes; exit 3")
        #expect(failed.status == 3)
        #expect(failed.errorText.contains("it failed with status 3: undone"), "\(failed.errorText)")
        #expect(try work.difference(of: work.root, and: "before").isEmpty)
        let removed = try run(work, "run", "--json", "--max-removed", "1", "--", "sh", "-c", "rm -r notes empty")
        #expect(removed.status == 125)
        let report = try JSON.object(removed.output)
        #expect(report["undone"] as? Bool == true && report["removed"] as? Int == 3, "\(report)")
        #expect(try work.difference(of: work.root, and: "before").isEmpty)
        let few = try run(work, "run", "--undo-on-failure", "--max-removed", "1", "--", "rm", "empty")
        #expect(few.status == 0 && few.errorText.contains("'archiver undo'"), "\(few.errorText)")
    }

    @Test("nothing is undone automatically if another operation changed the directory at the same time")
    func overlapping() throws {
        let work = try Workplace()
        _ = try work.capture()
        let inner = "\(Workplace.program) run -- sh -c 'echo inner > inner'"
        let outer = try run(work, "run", "--undo-on-failure", "--", "sh", "-c", "\(inner); rm empty; exit 1")
        #expect(outer.status == 1)
        #expect(outer.errorText.contains("nothing was undone"), "\(outer.errorText)")
        #expect(try work.read("tree/inner") == Array("inner\n".utf8))
        // The reverse: the inner run ends while the outer one continues.
        let failing = "\(Workplace.program) run --undo-on-failure -- sh -c 'echo more >> inner; exit 1'"
        let beside = try run(work, "run", "--", "sh", "-c", "\(failing); true")
        #expect(beside.status == 0)
        #expect(beside.errorText.contains("nothing was undone"), "\(beside.errorText)")
        #expect(try work.read("tree/inner") == Array("inner\nmore\n".utf8))
    }

    @Test("a command that cannot be run is status 127 or 126, a killed one 128 plus the signal, archiver's failure 125")
    func statuses() throws {
        let work = try Workplace()
        _ = try work.capture()
        let missing = try run(work, "run", "--", "no-such-command")
        #expect(missing.status == 127 && missing.errorText.contains("no-such-command"), "\(missing.errorText)")
        #expect(try run(work, "run", "--", "./data.bin").status == 126)
        #expect(try run(work, "run", "--", "sh", "-c", "kill -9 $$").status == 128 + SIGKILL)
        #expect(try operations(work).isEmpty)
        let elsewhere = try work.run("run", "--", "true")
        #expect(elsewhere.status == 125 && elsewhere.errorText.contains("name a root"), "\(elsewhere.errorText)")
        let gone = try work.run("run", "--root", work.path("none").string, "--", "touch", work.path("made").string)
        #expect(gone.status == 125)
        #expect(throws: (any Error).self) { try work.read("made") }
        let bare = try run(work, "run", "true")
        #expect(bare.status == 64, "\(bare.errorText)")
    }

    @Test("kill(1) reaches the command, and its changes are captured; a killed run can be undone")
    func signals() throws {
        let work = try Workplace()
        _ = try work.capture()
        try work.copyTree(to: "before")
        let script = "trap 'echo ended > end; exit 9' TERM; echo begun; while :; do read x < fifo; done"
        _ = try ChildProcess.run("mkfifo", [work.path("tree/fifo").string].map { Array($0.utf8) })
        let words = ["run", "--root", work.root.string, "--", "sh", "-c", "cd '\(work.root)'; " + script]
        let run = try work.start(words)
        _ = try run.line { $0 == "begun" }
        run.send(SIGTERM)
        #expect(try run.finish().status == 9)
        #expect(try work.read("tree/end") == Array("ended\n".utf8))

        let killed = try work.start([
            "run", "--root", work.root.string, "--", "sh", "-c", "cd '\(work.root)'; rm -r notes; echo begun",
        ])
        _ = try killed.line { $0 == "begun" }
        killed.send(SIGKILL)
        _ = try killed.finish()
        #expect(try work.run("undo", work.root.string).status == 0)
        #expect(try work.read("tree/notes/todo.txt") == Array("one\ntwo\n".utf8))
    }
}
