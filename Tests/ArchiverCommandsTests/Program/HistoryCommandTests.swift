// The history commands log, find, deleted, changes and sessions, and errors for missing paths.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("History commands", .blocking)
struct HistoryCommandTests {
    /// A tree in which a chapter is written, overwritten and renamed, and a note is added and deleted.
    private static func story() throws -> (work: Workplace, ids: [String]) {
        let work = try Workplace()
        var ids: [String] = []
        try work.write("book/one.md", "It was a dark night.\nThe wind blew.\n")
        ids.append(try work.capture())
        try work.write("book/one.md", "It was a dark night.\nThe wind blew hard.\nA door closed.\n")
        try work.write("notes/tmp.txt", "soon gone")
        ids.append(try work.capture())
        try work.remove("tree/notes/tmp.txt")
        rename(work.path("tree/book/one.md").string, work.path("tree/book/first.md").string)
        ids.append(try work.capture())
        try work.write("book/first.md", "ruined\n")
        try work.remove("tree/notes/todo.txt")
        ids.append(try work.capture())
        return (work, ids)
    }

    private func run(_ work: Workplace, _ arguments: String...) throws -> ChildProcess.Outcome {
        try work.run(arguments + ["--root", work.root.string])
    }

    @Test("log lists the versions of a file under both names, and the changes of each")
    func log() throws {
        let (work, ids) = try HistoryCommandTests.story()
        let outcome = try run(work, "log", "book/first.md")
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let rows = outcome.lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
        #expect(rows.map { $0[2] } == ["modified", "renamed", "modified", "added"])
        #expect(rows.map { $0[0] } == ids.reversed().map { String($0.prefix(rows[0][0].count)) })
        #expect(rows[1][4...5] == ["book/first.md", "book/one.md"])
        #expect(try run(work, "log", "book/first.md", "--no-follow").lines.count == 2)
        #expect(try run(work, "log", "book/first.md", "-n", "2").lines.count == 2)
        #expect(try run(work, "log", "book/first.md", "--since", "1h").lines.count == 4)
        #expect(try run(work, "log", "book/first.md", "--until", "2001-01-01").lines.isEmpty)

        let json = try JSON.array(run(work, "log", "book/first.md", "--json", "--stat").output)
        #expect(json.map { $0["linesAdded"] as? Int } == [1, 0, 2, 2])
        #expect(json.map { $0["linesRemoved"] as? Int } == [3, 0, 1, 0])
        #expect(json[1]["otherPath"] as? String == "book/one.md")
        #expect(json.map { $0["snapshot"] as? String } == ids.reversed())

        let patch = try run(work, "log", "book/first.md", "-p").text
        #expect(patch.contains("-The wind blew.\n+The wind blew hard.\n+A door closed.\n"))
        #expect(patch.contains("--- /dev/null\n+++ b/book/one.md\n"))

        let directory = try run(work, "log", "book").lines
        #expect(directory.count == 4)
        #expect(try run(work, "log").lines.count == 4, "the whole root")
        #expect(try run(work, "log", "data.bin", "--stat").lines.count == 1, "binary, and never changed")
        #expect(try run(work, "log", "data.bin", "-p").text.contains("Binary files"))
    }

    @Test("paths are relative to the current directory")
    func standing() throws {
        let (work, _) = try HistoryCommandTests.story()
        let inBook = try work.run([Array("log".utf8), Array("first.md".utf8)], in: work.path("tree/book"))
        #expect(inBook.lines.count == 4, "\(inBook.errorText)")
    }

    @Test("for a path missing from a snapshot, its last snapshot is named")
    func missing() throws {
        let (work, ids) = try HistoryCommandTests.story()
        for command in ["show", "cat", "restore", "diff"] {
            let deleted = try run(work, command, "latest:notes/todo.txt")
            expectRefusal(deleted, 1, naming: "notes/todo.txt")
            #expect(deleted.errorText.contains("deleted "), "\(deleted.errorText)")
            #expect(deleted.errorText.contains("archiver restore \(ids[2].prefix(8))"), "\(deleted.errorText)")
        }
        let moved = try run(work, "cat", "latest:book/one.md")
        #expect(moved.errorText.contains("book/first.md"), "\(moved.errorText)")
        let before = try run(work, "cat", "\(ids[0]):book/first.md")
        #expect(before.errorText.contains("it was called book/one.md then"), "\(before.errorText)")
        let later = try run(work, "cat", "\(ids[0]):notes/tmp.txt")
        #expect(later.errorText.contains("added"), "\(later.errorText)")
        let near = try run(work, "cat", "latest:book/frist.md")
        #expect(near.errorText.contains("did you mean book/first.md?"), "\(near.errorText)")
        let there = try work.run(["log", "frist.md"].map { Array($0.utf8) }, in: work.root.appending("book"))
        #expect(there.errorText.contains("did you mean first.md?"), "\(there.errorText)")
        expectRefusal(try run(work, "log", "book/frist.md"), 1, naming: "book/frist.md")
        expectRefusal(try run(work, "log", "no/such"), 1, naming: "no/such")
        expectRefusal(try run(work, "deleted", "no/such"), 1, naming: "no/such")

        let words = deletedRestoreCommand(try run(work, "cat", "latest:notes/todo.txt").errorText)
        #expect(try work.run(words + ["--root", work.root.string]).status == 0, "suggested: \(words)")
        #expect(try work.read("tree/notes/todo.txt") == Array("one\ntwo\n".utf8))
    }

    @Test("for a path that was renamed and then deleted, its last name is given")
    func renamedAndDeleted() throws {
        let (work, ids) = try HistoryCommandTests.story()
        try work.remove("tree/book/first.md")
        _ = try work.capture()
        let error = try run(work, "cat", "latest:book/one.md").errorText
        #expect(error.contains("it was renamed to book/first.md, and deleted "), "\(error)")
        let words = deletedRestoreCommand(error)
        #expect(words == ["restore", "\(ids[3].prefix(8)):book/first.md", "--root", work.root.string], "\(words)")
        #expect(try work.run(words).status == 0)
        #expect(try work.read("tree/book/first.md") == Array("ruined\n".utf8))
    }

    /// The words of the quoted command, without the program's name.
    private func deletedRestoreCommand(_ error: String) -> [String] {
        let quoted = error.split(separator: "'").first { $0.hasPrefix("archiver restore") } ?? ""
        return quoted.split(separator: " ").dropFirst().map(String.init)
    }

    @Test("deleted lists deleted paths and restores them")
    func deleted() throws {
        let (work, ids) = try HistoryCommandTests.story()
        let outcome = try run(work, "deleted", "--json")
        let rows = try JSON.array(outcome.output)
        #expect(rows.map { $0["path"] as? String } == ["notes/todo.txt", "notes/tmp.txt"])
        #expect(rows.map { $0["lastIn"] as? String } == [ids[2], ids[1]])
        #expect(try run(work, "deleted", "notes", "--since", "2001-01-01").lines.count == 2)
        #expect(try run(work, "deleted", "book").lines.isEmpty, "renamed is not deleted")
        let restored = try run(work, "deleted", "notes/todo.txt", "--restore")
        #expect(restored.status == 0, "\(restored.errorText)")
        #expect(try work.read("tree/notes/todo.txt") == Array("one\ntwo\n".utf8))
        #expect(try run(work, "deleted").lines.count == 1)
    }

    @Test("deleted --restore restores all paths in one operation, each from its last snapshot; undo removes them again")
    func deletedInOneOperation() throws {
        let work = try Workplace()
        for name in ["d/first", "d/second", "other", "stays"] { try work.write(name, "1") }
        _ = try work.capture()
        try work.remove("tree/d/first")
        try work.write("other", "2")
        _ = try work.capture()
        try work.remove("tree/d")
        try work.remove("tree/other")
        _ = try work.capture()
        try work.copyTree(to: "before")
        let count = try work.listed().count
        let restored = try run(work, "deleted", "--restore")
        #expect(restored.status == 0 && restored.errorText.contains("archiver undo"), "\(restored.errorText)")
        for (name, text) in [("d/first", "1"), ("d/second", "1"), ("other", "2")] {
            #expect(try work.read("tree/\(name)") == Array(text.utf8), "\(name)")
        }
        #expect(try JSON.array(work.run("operations", work.root.string, "--json").output).count == 1)
        #expect(try work.listed().count == count + 1)
        // What was done elsewhere since then stays.
        try work.write("stays", "2")
        #expect(try work.run("undo", work.root.string).status == 0)
        #expect(try work.read("tree/stays") == Array("2".utf8))
        try work.write("stays", "1")
        #expect(throws: (any Error).self) { try work.read("tree/d/first") }
        #expect(throws: (any Error).self) { try work.read("tree/other") }
    }

    @Test("deleted --restore leaves alone what is still there, only excluded from snapshots by now")
    func deletedButExcluded() throws {
        let work = try Workplace()
        try work.write("secret.env", "1")
        _ = try work.capture()
        try work.write(".archiverignore", "secret.env\n")
        try work.write("secret.env", "password")
        _ = try work.capture()
        let restored = try run(work, "deleted", "--restore")
        #expect(restored.errorText.contains("still there"), "\(restored.errorText)")
        #expect(try work.read("tree/secret.env") == Array("password".utf8))
        #expect(try JSON.array(work.run("operations", work.root.string, "--json").output).isEmpty)
    }

    @Test("changes shows temporary files, and sessions shows where work began")
    func changes() throws {
        let (work, ids) = try HistoryCommandTests.story()
        let all = try run(work, "changes", ids[0])
        #expect(all.status == 0, "\(all.errorText)")
        let rows = all.lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
        #expect(
            rows.map { "\($0[0]) \($0[2])" } == [
                "renamed book/first.md", "renamedAway book/one.md", "transient notes/tmp.txt",
                "removed notes/todo.txt",
            ])
        let one = try run(work, "changes", ids[0], ids[1], "--timeline").lines
        #expect(one.count == 2)
        let sessions = try JSON.array(run(work, "sessions", "--json").output)
        #expect(sessions.count == 1)
        #expect(sessions.first?["snapshots"] as? Int == 4)
        expectRefusal(try run(work, "show", "session~1"), 1, naming: "session~1")
        expectRefusal(try run(work, "show", "session~x"), 64, naming: "session~x")
        #expect(try run(work, "changes").lines.count == 4, "the session began with the first snapshot")
    }

    @Test("changes are shown since and until a time, and of all roots by absolute paths")
    func changesOfTimesAndRoots() throws {
        let work = try Workplace()
        _ = try work.capture()
        try work.write("one.md", "1")
        _ = try work.capture()
        let start = try #require(JSON.array(work.run("list", "--json").output).last?["time"] as? String)
        try work.write("two.md", "2")
        _ = try work.capture()
        for file in ["old.md", "three.md"] {
            try work.write("../other/\(file)", "3")
            #expect(try work.run("capture", work.path("other").string).status == 0)
        }
        func paths(_ words: String...) throws -> [String] {
            try work.run((["changes"] + words).map { Array($0.utf8) }, in: work.root).lines.map {
                $0.components(separatedBy: "\t")[2]
            }
        }
        #expect(try paths("--since", "1h").contains("one.md"))
        #expect(try paths("--until", start).contains("one.md") && !paths("--until", start).contains("two.md"))
        #expect(try paths("--until", "2001-01-01").isEmpty)
        #expect(try paths("--since", "1h", "--until", start).contains("one.md"))
        #expect(try !paths("--until", start, "--timeline").isEmpty)
        let all = try JSON.array(work.run("changes", "--all", "--json").output)
        #expect(Set(all.compactMap { $0["root"] as? String }) == [work.root.string, work.path("other").string])
        for words in [["--all"], ["--all", "--since", "1h"]] {
            let shown = try work.run((["changes"] + words).map { Array($0.utf8) }, in: work.path(".")).lines
            for file in [work.root.appending("two.md"), work.path("other/three.md")] {
                #expect(shown.contains { $0.contains("\t\(file)\t") }, "\(words): \(shown)")
            }
        }
        let moments = try work.run("changes", "--all", "--timeline").lines.map { $0.components(separatedBy: "\t")[1] }
        #expect(moments == moments.sorted() && moments.count == 3)
        expectRefusal(try run(work, "changes", "oldest", "--all"), 64, naming: "--all")
        expectRefusal(try run(work, "changes", "oldest", "--since", "1h"), 64, naming: "leave out one")
        expectRefusal(try run(work, "changes", "--all", "--root", "."), 64, naming: "--root")
    }

    @Test("changes names a file as the two snapshots do, whatever it was called in between")
    func changesOfRenamed() throws {
        let work = try Workplace()
        func move(_ old: String, _ new: String) {
            rename(work.path("tree/" + old).string, work.path("tree/" + new).string)
        }
        let chapter = (0..<9).map { "line \($0) of the chapter\n" }.joined()
        try work.write("gone.md", "it is renamed, then deleted")
        try work.write("one.md", "it is renamed twice")
        try work.write("book/chapter.md", chapter)
        try work.write("book/figure.svg", "it only moves with its directory")
        try work.write("left.md", "it is renamed, and its name is used again")
        let first = try work.capture()
        move("gone.md", "later.md")
        move("one.md", "two.md")
        try work.write("book/chapter.md", chapter + "one more\n")
        move("left.md", "right.md")
        let second = try work.capture()
        try work.remove("tree/later.md")
        move("two.md", "three.md")
        move("book", "novel")
        try work.write("left.md", "another file")
        _ = try work.capture()
        let rows = try run(work, "changes", first).lines
            .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
        #expect(
            rows.map { "\($0[0]) \($0[1]) \($0[2]) \($0[3])" } == [
                "renamedAway 1 book novel", "renamedAway 2 book/chapter.md novel/chapter.md",
                "renamedAway 1 book/figure.svg novel/figure.svg", "removed 2 gone.md ", "modified 2 left.md ",
                "renamed 1 novel book", "renamed 2 novel/chapter.md book/chapter.md",
                "renamed 1 novel/figure.svg book/figure.svg", "renamedAway 2 one.md three.md", "added 1 right.md ",
                "renamed 2 three.md one.md",
            ])
        let part = try run(work, "changes", "\(first):book").lines
        #expect(part.count == 6, "\(part)")
        #expect(try run(work, "changes", second, "--timeline").lines.contains { $0.contains("\tremoved\tlater.md") })
    }

    @Test("find lists every name in any snapshot")
    func find() throws {
        let (work, ids) = try HistoryCommandTests.story()
        func names(_ arguments: String...) throws -> [String] {
            try work.run(["find"] + arguments + ["--root", work.root.string]).lines
                .map { String($0.prefix { $0 != "\t" }) }
        }
        #expect(try names("*.md") == ["book/first.md", "book/one.md"])
        #expect(try names("*.txt", "--deleted") == ["notes/tmp.txt", "notes/todo.txt"])
        #expect(try names("*", "--type", "d") == ["book", "notes"])
        #expect(try names("*", "--larger-than", "60K") == ["data.bin"])
        #expect(try names("/book/*", "--at", "1h").isEmpty, "nothing was an hour ago")
        #expect(try names("nothing*").isEmpty)
        // A plain word matches as part of the name.
        #expect(try names("o") == ["book", "book/one.md", "notes", "notes/todo.txt"])
        #expect(try names("one.md") == ["book/one.md"] && names("no", "--type", "d") == ["notes"])
        #expect(try names("/one.md").isEmpty && names("data") == ["data.bin"])
        let zeros = try work.run("find", "*.md", "--print0", "--root", work.root.string).output
        #expect(zeros == Array("book/first.md\0book/one.md\0".utf8))
        #expect(try work.run("find", "*", "--type", "x", "--root", work.root.string).status == 64)
        expectRefusal(try run(work, "find", "!x"), 64, naming: "!x")
        #expect(ids.count == 4)
    }

    @Test("a damaged snapshot in the middle is named, and the others are listed")
    func damage() throws {
        let work = try Workplace()
        var text = ""
        for number in 0..<6 {
            text += "line \(number)\n"
            try work.write("file.md", text)
            _ = try work.capture()
        }
        let whole = try run(work, "log", "file.md").lines
        #expect(whole.count == 6)
        // The bytes in the middle of the archive are lost; the catalogue is rebuilt from the rest.
        let segment = try #require(
            try ChildProcess.run(
                "find", [work.archive.appending("segments").string, "-type", "f"].map { Array($0.utf8) }
            )
            .lines.first)
        var bytes = try Array(Data(contentsOf: URL(fileURLWithPath: segment)))
        for index in (bytes.count * 45 / 100)..<(bytes.count * 60 / 100) { bytes[index] ^= 0x55 }
        try Data(bytes).write(to: URL(fileURLWithPath: segment))
        _ = try work.run("repair", "--catalogue")
        let outcome = try run(work, "log", "file.md")
        #expect([0, 1, 2].contains(outcome.status), "\(outcome.errorText)")
        #expect(outcome.status != 0 || outcome.lines.count > 1, "\(outcome.errorText)")
    }

    @Test("find takes a name with brackets as a pattern and as plain text")
    func brackets() throws {
        let work = try Workplace()
        for name in ["[abc].txt", "[.txt", "some[dir]/x", "b"] { try work.write(name, "1") }
        _ = try work.capture()
        func found(_ pattern: String) throws -> [String] {
            try run(work, "find", pattern).lines.map { String($0.prefix { $0 != "\t" }) }
        }
        #expect(try found("[abc]") == ["[abc].txt", "b"])
        #expect(try found("[.txt") == ["[.txt"])
        #expect(try found("some[dir]") == ["some[dir]"])
        #expect(try found("\\[abc\\]*") == ["[abc].txt"])
    }

    @Test("a path that has another name in the wanted snapshot is named as it was called then")
    func calledBefore() throws {
        let (work, ids) = try HistoryCommandTests.story()
        let first = String(ids[0].prefix(8))
        for command in [["cat", "\(first):book/first.md"], ["restore", first, "book/first.md"]] {
            let outcome = try work.run(command + ["--root", work.root.string])
            #expect(outcome.status == 1)
            #expect(
                outcome.errorText.contains(
                    "holds no book/first.md: it was called book/one.md then — write \(first):book/one.md"),
                "\(outcome.errorText)")
        }
    }
}
