// undo, redo and operations, as text and as JSON.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct UndoTests {
    /// A tree in its second state; the first and the second state are captured.
    private func twoStates() throws -> (work: Workplace, ids: [String]) {
        let work = try Workplace()
        let first = try work.capture()
        try work.write("notes/todo.txt", "second\n")
        try work.write("new", "new\n")
        return (work, [first, try work.capture()])
    }

    private func todo(_ work: Workplace) throws -> String {
        String(decoding: try work.read("tree/notes/todo.txt"), as: UTF8.self)
    }

    /// The operations, the newest first.
    private func operations(_ work: Workplace) throws -> [[String: Any]] {
        try JSON.array(work.run("operations", work.root.string, "--reverse", "--json").output)
    }

    @Test("undo goes back restore by restore, redo forward, and each reports what it did")
    func backAndForth() throws {
        let (work, ids) = try twoStates()
        try work.copyTree(to: "second")
        #expect(try work.run("restore", ids[0], "--root", work.root.string).status == 0)
        try work.copyTree(to: "first")
        let undone = try work.run("undo", work.root.string)
        #expect(undone.status == 0 && undone.errorText == "")
        #expect(undone.lines.count == 1)
        #expect(undone.text.hasPrefix("undid the restore of 20"), "\(undone.text)")
        #expect(undone.text.contains(": restored \(work.root) to \(ids[1].prefix(8)) ("), "\(undone.text)")
        #expect(undone.text.hasSuffix("; 'archiver redo \(work.root)' reverts this\n"), "\(undone.text)")
        #expect(try work.difference(of: work.root, and: "second") == "")

        let redone = try work.run([Array("redo".utf8)], in: work.root)
        #expect(redone.status == 0 && redone.text.hasPrefix("redid what was undone at 20"), "\(redone.text)")
        #expect(redone.text.hasSuffix("; 'archiver undo' reverts this\n"), "\(redone.text)")
        #expect(try work.difference(of: work.root, and: "first") == "")

        #expect(try work.run("undo", work.root.string).text.hasPrefix("undid the redo of 20"))
        #expect(try work.difference(of: work.root, and: "second") == "")
    }

    @Test(
        "with nothing to undo or redo, that is reported, and the exit code is 1", arguments: ["undo", "redo"])
    func nothing(command: String) throws {
        let (work, _) = try twoStates()
        let outcome = try work.run(command, work.root.string)
        #expect(outcome.status == 1 && outcome.text == "")
        #expect(outcome.errorText.hasPrefix("archiver: there is nothing to \(command) in \(work.root)"))
        #expect(outcome.errorText.split(separator: "\n").count == 1)
        let json = try work.run(command, work.root.string, "--json")
        let error = try #require(try JSON.object(json.errorText)["error"] as? [String: Any])
        #expect(json.status == 1 && json.text == "")
        #expect(error["code"] as? String == (command == "undo" ? "nothingToUndo" : "nothingToRedo"))
        #expect(try work.run("operations").status == 0)
        #expect(try work.run("operations").errorText == "Nothing has been restored in \(work.root) yet.\n")
        #expect(try work.run("operations", "--all").errorText == "Nothing has been restored yet.\n")
        #expect(try work.run("operations", "--json").text == "[]\n")
    }

    @Test("several steps are undone together, or none of them")
    func steps() throws {
        let (work, ids) = try twoStates()
        for id in [ids[0], ids[1], ids[0]] {
            #expect(try work.run("restore", id, "--root", work.root.string).status == 0)
        }
        let many = try work.run("undo", work.root.string, "--steps", "4")
        #expect(many.status == 1 && many.errorText.contains("there are only 3 operations to undo"))
        #expect(try todo(work) == "one\ntwo\n")
        let undone = try work.run("undo", work.root.string, "--steps", "3")
        #expect(undone.status == 0 && undone.lines.count == 3)
        #expect(try todo(work) == "second\n")
        #expect(try work.run("redo", work.root.string, "--steps", "2", "--json").status == 0)
        #expect(try todo(work) == "second\n")
        #expect(try work.run("redo", work.root.string).status == 0)
        #expect(try todo(work) == "one\ntwo\n")
        for wrong in ["0", "-1", "all"] {
            #expect(try work.run("undo", work.root.string, "--steps=\(wrong)").status == 64)
        }
    }

    @Test("a dry run reports what would be done, and changes nothing")
    func dryRun() throws {
        let (work, ids) = try twoStates()
        #expect(try work.run("restore", ids[0], "--root", work.root.string).status == 0)
        try work.copyTree(to: "copy")
        let before = try operations(work).count
        let reported = try work.run("undo", work.root.string, "--dry-run")
        #expect(reported.status == 0)
        #expect(
            reported.lines.filter { $0.hasPrefix("create    new") || $0.hasPrefix("replace   notes/todo.txt") }.count
                == 2)
        #expect(reported.lines.last?.hasPrefix("would undo the restore of 20") == true)
        #expect(reported.lines.last?.contains("would restore \(work.root) to \(ids[1].prefix(8))") == true)
        let json = try JSON.object(work.run("undo", work.root.string, "--dry-run", "--json").output)
        #expect(json["dryRun"] as? Bool == true)
        #expect((json["actions"] as? [[String: Any]])?.contains { $0["path"] as? String == "new" } == true)
        #expect(try work.difference(of: work.root, and: "copy") == "" && operations(work).count == before)
        #expect(try work.run("redo", work.root.string, "--dry-run").status == 1)
    }

    @Test("JSON has all details of an operation and of its undo")
    func json() throws {
        let (work, ids) = try twoStates()
        let restored = try JSON.object(
            work.run("restore", ids[0] + ":notes", "--json", "--root", work.root.string).output)
        let operation = try #require(restored["operation"] as? String)
        let undone = try JSON.object(work.run("undo", work.root.string, "--json").output)
        #expect(undone["root"] as? String == work.root.string && undone["dryRun"] as? Bool == false)
        let step = try #require((undone["steps"] as? [[String: Any]])?.first)
        #expect(step["id"] as? String == ids[1] && step["path"] as? String == "notes")
        #expect(step["replaced"] as? Int == 1 && step["created"] as? Int == 0 && step["resumed"] as? Bool == false)
        let listed = try operations(work)
        #expect(listed.count == 2)
        #expect(listed[0]["id"] as? String == step["operation"] as? String)
        #expect(listed[0]["kind"] as? String == "undo" && listed[0]["next"] as? String == "redo")
        #expect(listed[0]["target"] as? String == operation)
        #expect(
            listed[1]["id"] as? String == operation
                && listed[1]["undoneBy"] as? String == step["operation"] as? String)
        #expect(listed[1]["kind"] as? String == "restore" && listed[1]["path"] as? String == "notes")
        #expect(listed[1]["before"] as? String == ids[1] && listed[1]["snapshot"] as? String == ids[0])
        #expect(listed[1]["after"] as? String == listed[0]["before"] as? String)
        #expect(listed.allSatisfy { $0["complete"] as? Bool == true && $0["root"] as? String == work.root.string })
        #expect((step["reverts"] as? [String: Any])?["id"] as? String == operation)
        let check = try JSON.object(work.run("check", "--json").output)
        #expect(check["operations"] as? Int == 4)
        #expect(try JSON.object(work.run("repair", "--catalogue", "--json").output)["operations"] as? Int == 4)
    }

    @Test("operations are a table on a terminal and lines with tabs in a pipe", .enabled(if: Workplace.hasTerminals))
    func table() throws {
        let (work, ids) = try twoStates()
        #expect(try work.run("restore", ids[0] + ":notes", "--root", work.root.string).status == 0)
        #expect(try work.run("restore", ids[0], "--root", work.root.string).status == 0)
        #expect(try work.run("undo", work.root.string).status == 0)
        let known = try operations(work)
        #expect(try work.run("operations").lines == work.run("operations", "--reverse").lines.reversed())
        let lines = try work.run("operations", "--reverse").lines.map {
            $0.split(separator: "\t", omittingEmptySubsequences: false)
        }
        #expect(lines.count == 3 && lines.allSatisfy { $0.count == 10 })
        #expect(lines.map(\.[3]) == ["undo", "restore", "restore"] && lines.map(\.[4]) == [".", ".", "notes"])
        #expect(lines.map(\.[8]) == ["next to redo", "undone", "next to undo"])
        for (line, operation) in zip(lines, known) {
            #expect((operation["id"] as? String)?.prefix(8) == line[0])
            #expect((operation["after"] as? String)?.prefix(8) == line[7])
        }
        let process = try work.startOnTerminal("operations", "--no-color", "--reverse", "--all")
        let shown = try process.finish().text.split(separator: "\r\n")
        #expect(shown.first == "operations of all roots")
        let table = Array(shown.dropFirst())
        #expect(table.count == 4 && table[0].hasPrefix("id "))
        #expect(table[3].contains("\(ids[0].prefix(8)):notes") && table[3].hasSuffix("next to undo"), "\(table[3])")
        #expect(table[3].contains("\(ids[1].prefix(8)) → "))
    }

    @Test("if several roots are possible, one must be named; other failures are reported too")
    func whichRoot() throws {
        let (work, ids) = try twoStates()
        #expect(try work.run("restore", ids[0], "--root", work.root.string).status == 0)
        let other = work.path("with \"a\" space")
        #expect(mkdir(other.string, 0o755) == 0)
        #expect(try work.run("capture", other.string).status == 0)
        let unclear = try work.run("undo")
        #expect(unclear.status == 64 && unclear.errorText.contains(work.root.string))
        #expect(try work.run([Array("undo".utf8)], in: work.root.appending("notes")).status == 0)
        #expect(try work.run("undo", other.string).status == 1)
        #expect(try work.run("undo", work.root.appending("notes").string).errorText.contains("it is inside the root"))
        #expect(try work.run("operations", other.string).errorText == "Nothing has been restored in \(other) yet.\n")
        #expect(try work.run("operations", "--all", other.string).status == 64)
        #expect(try work.run("operations").lines.count == 2)
        // A suggested command can be copied even if the path needs quotes.
        let file = try Descriptor.open(other.appending("file"), O_WRONLY | O_CREAT, permissions: 0o600)
        _ = consume file
        let restored = try work.run("restore", "latest", "--root", other.string)
        #expect(restored.text.contains("'archiver undo \"\(work.path("with"))"), "\(restored.text)")
        #expect(restored.text.contains("with \\\"a\\\" space\"' brings it back"), "\(restored.text)")
    }

    @Test("two concurrent undos go two steps back")
    func atOnce() throws {
        let (work, ids) = try twoStates()
        for id in [ids[0], ids[1], ids[0], ids[1]] {
            #expect(try work.run("restore", id, "--root", work.root.string).status == 0)
        }
        for _ in 0..<2 {
            let processes = try (0..<2).map { _ in try work.start("undo", work.root.string, "--json") }
            let outcomes = try processes.map { try $0.finish() }
            #expect(outcomes.allSatisfy { $0.status == 0 }, "\(outcomes.map(\.errorText))")
        }
        #expect(try todo(work) == "second\n")
        #expect(try work.run("undo", work.root.string).status == 1)
        #expect(try operations(work).count == 8)
        let taken = try operations(work).compactMap { $0["target"] as? String }
        #expect(Set(taken).count == 4)
    }

    @Test("undo and redo work while a watcher runs")
    func watched() throws {
        let (work, ids) = try twoStates()
        let watch = try work.start("watch", work.root.string, "--json", "--settle", "5ms", "--max-delay", "50ms")
        _ = try watch.line { $0.contains("\"event\":\"watching\"") }
        #expect(try work.run("restore", ids[0], "--root", work.root.string).status == 0)
        for round in 0..<5 {
            try work.write("notes/todo.txt", "work \(round)\n")
            #expect(try work.run("undo", work.root.string).status == 0)
            #expect(try todo(work) == "second\n")
            #expect(try work.run("redo", work.root.string).status == 0)
            #expect(try todo(work) == "work \(round)\n")
        }
        #expect(try work.run("status", work.root.string).status == 0)
        try work.copyTree(to: "last")
        watch.send(SIGTERM)
        let outcome = try watch.finish()
        #expect(outcome.status == 0 && !outcome.text.contains("\"event\":\"error\""), "\(outcome.text)")
        #expect(try work.run("restore", "latest", "--target", work.path("out").string).status == 0)
        #expect(try work.difference(of: work.path("out"), and: "last") == "")
        #expect(try work.run("check", "--data").status == 0)
    }
}
