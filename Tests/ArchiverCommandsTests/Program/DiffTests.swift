// Comparisons follow renames, mark changed words, and their patches can be applied.

import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct DiffTests {
    private static func run(_ work: Workplace, _ words: String...) throws -> ChildProcess.Outcome {
        try work.run(words.map { Array($0.utf8) }, in: work.root)
    }

    private static func text(_ name: String) -> String {
        (0..<30).map { "line \($0) of \(name)\n" }.joined()
    }

    @Test("moved files are renames, between snapshots and with the directory as it is now")
    func moved() throws {
        let work = try Workplace()
        for number in 0..<60 { try work.write("old/f\(number)", Self.text("\(number)")) }
        _ = try work.capture()
        rename(work.path("tree/old").string, work.path("tree/new").string)
        try work.write("new/f7", Self.text("7") + "an edited line\n")
        let now = try Self.run(work, "diff", "-p")
        #expect(now.lines.filter { $0.hasPrefix("rename to new/") }.count == 59, "\(now.text.prefix(500))")
        _ = try work.capture()
        for words in [["diff", "latest~1", "latest"], ["diff", "latest", "latest~1"]] {
            let rows = try JSON.array(work.run((words + ["--json"]).map { Array($0.utf8) }, in: work.root).output)
            let renamed = rows.filter { $0["change"] as? String == "renamed" }
            #expect(renamed.count == 61, "\(words)")
            #expect(rows.allSatisfy { ["renamed", "modified"].contains($0["change"] as? String) }, "\(words)")
            #expect(renamed.allSatisfy { ($0["otherPath"] as? String)?.isEmpty == false })
        }
        let patch = try Self.run(work, "diff", "latest~1", "latest", "-p")
        #expect(patch.lines.filter { $0.hasPrefix("+") && !$0.hasPrefix("+++") } == ["+an edited line"])
        // A person sees one line for the directory, and one for the file that was edited as well.
        let table = try Self.run(work, "diff", "latest~1", "latest", "--format", "table").lines
        #expect(table.contains("> new/ (was old/)") && table.contains("> new/f7 (was old/f7) (content)"), "\(table)")
        #expect(table.count <= 3, "\(table)")
        #expect(try Self.run(work, "diff", "latest~1", "latest", "--stat").text.contains("61 renamed"))
    }

    @Test("a patch with renames, empty and removed empty files is applied by git")
    func applied() throws {
        let work = try Workplace()
        try work.write("from here", Self.text("a"))
        try work.write("gone", Self.text("gone"))
        try work.write("gone empty", "")
        _ = try work.capture()
        try work.copyTree(to: "before")
        rename(work.path("tree/from here").string, work.path("tree/to \"there\"").string)
        for name in ["gone", "gone empty"] { try work.remove("tree/" + name) }
        try work.write("sub/new empty", "")
        try work.write("notes/todo.txt", "one\nchanged\n")
        let patch = try Self.run(work, "diff", "-p")
        #expect(patch.status == 0, "\(patch.errorText)")
        try work.write("../patch", patch.output)
        let applied = try ChildProcess.run(
            "git", ["apply", "-p1", work.path("patch").string].map { Array($0.utf8) },
            environment: ["HOME": work.path("").string, "GIT_CEILING_DIRECTORIES": "/"], directory: work.path("before"))
        #expect(applied.status == 0, "\(applied.errorText)\n\(patch.text)")
        #expect(try work.difference(of: work.root, and: "before") == "")
    }

    @Test("--word-diff marks words, and a terminal marks the words of a patch", .enabled(if: Workplace.hasTerminals))
    func words() throws {
        let work = try Workplace()
        try work.write("prose", "It was a dark and stormy night; the rain fell.\n")
        _ = try work.capture()
        try work.write("prose", "It was a bright and stormy night; the rain fell.\nNew.\n")
        let words = try Self.run(work, "diff", "--word-diff").text
        #expect(words.contains("It was a [-dark-]{+bright+} and stormy night; the rain fell.\n{+New.+}"), "\(words)")
        let terminal = try work.startOnTerminal(
            ["diff", "-p", "--root", work.root.string], environment: ["TERM": "xterm"]
        ).finish().text
        #expect(terminal.contains("\u{1B}[7;31mdark\u{1B}[0m") && terminal.contains("\u{1B}[7;32mbright\u{1B}[0m"))
        #expect(terminal.contains("\u{1B}[31mIt was a \u{1B}[0m"), "\(terminal)")
    }
}
