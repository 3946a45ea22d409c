// Windows, lists that say what happened, lines that were found, and small truths.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct KeyboardTests {
    private static func run(_ work: Workplace, _ words: String...) throws -> ChildProcess.Outcome {
        try work.run(words.map { Array($0.utf8) }, in: work.root)
    }

    @Test(
        "every list takes -n, --since and --until",
        arguments: ["list", "log", "deleted", "sessions", "turns", "operations", "note", "pin", "grep one", "find e"])
    func windows(command: String) throws {
        let work = try Workplace()
        _ = try work.capture()
        let words = command.split(separator: " ").map(String.init)
        for window in [["-n", "1"], ["-n1"], ["--limit", "1"], ["--since", "1d"], ["--until", "@now"]] {
            let outcome = try work.run((words + window).map { Array($0.utf8) }, in: work.root)
            #expect(outcome.status == 0, "\(words + window): \(outcome.errorText)")
        }
        for (window, what) in [
            (["-n", "0"], "at least 1"), (["--since", "2999-01-01"], "in the future"),
            (["--since", "x"], "not a time"),
            (["--since", "1h", "--until", "2h"], "is later than"),
        ] {
            expectRefusal(try work.run((words + window).map { Array($0.utf8) }, in: work.root), 64, naming: what)
        }
        let none = try work.run((words + ["--until", "2001-01-01"]).map { Array($0.utf8) }, in: work.root)
        #expect(none.output.isEmpty && (none.status == 0 || command.hasPrefix("grep")), "\(none.text)")
    }

    @Test("lists show the same clock in a pipe as in a table, and --format chooses the form")
    func clocks() throws {
        let work = try Workplace()
        _ = try work.capture()
        let zone = ["TZ": "<+0530>-05:30"]
        let table = try work.run("list", "--format", "table", environment: zone).lines
        let clock = try #require(table.last?.firstMatch(of: /\d\d:\d\d:\d\d/)?.0)
        let plain = try #require(try work.run("list", environment: zone).lines.first)
        #expect(plain.contains("T\(clock).") && plain.contains("+05:30\t"), "\(plain)")
        let log = try #require(try work.run("log", environment: zone).lines.first)
        #expect(log.contains("T\(clock).") && log.contains("+05:30\t"), "\(log)")
        // What a list prints can be given back.
        let time = try #require(plain.split(separator: "\t").dropFirst().first.map(String.init))
        #expect(try work.run("list", "--since", time, environment: zone).lines.count == 1)
        let json = try JSON.array(work.run("list", "--json", environment: zone).output)
        #expect((json.first?["time"] as? String)?.hasSuffix("Z") == true)
    }

    @Test("list says what each snapshot changed, and which were restores and undos")
    func whatHappened() throws {
        let work = try Workplace()
        _ = try work.capture()
        try work.write("notes/todo.txt", "three\n")
        _ = try work.capture()
        for name in ["a", "b", "c"] { try work.write(name, name) }
        _ = try work.capture()
        #expect(try Self.run(work, "restore", "latest~1").status == 0)
        #expect(try Self.run(work, "undo").status == 0)
        let lines = try Self.run(work, "list", "--format", "table").lines
        for text in [
            "  first snapshot", "~ notes/todo.txt", "+ a and 2 more", "restore: - a and 3 more", "undo: + a and 3 more",
        ] {
            #expect(lines.contains { $0.contains(text) }, "\(text): \(lines)")
        }
    }

    @Test("watch says what each snapshot changed", .enabled(if: Workplace.hasTerminals))
    func watchSays() throws {
        let work = try Workplace()
        let watcher = try work.startOnTerminal("watch", work.root.string)
        _ = try watcher.line { $0.contains("watching \(work.root): ") && !$0.contains("first capture") }
        try work.write("chapter.md", "one\n")
        _ = try watcher.line { $0.contains("+ chapter.md") }
    }

    @Test("log takes several paths and patterns, and shows patches of directories")
    func logOfMany() throws {
        let work = try Workplace()
        try work.write("a.rs", "fn a() {}\n")
        try work.write("src/b.rs", "fn b() {}\n")
        _ = try work.capture()
        try work.write("a.rs", "fn a() { 1 }\n")
        _ = try work.capture()
        try work.write("src/b.rs", "fn b() { 2 }\n")
        try work.write("empty", "no more\n")
        _ = try work.capture()
        func paths(_ words: String...) throws -> [String] {
            try JSON.array(work.run((["log", "--json"] + words).map { Array($0.utf8) }, in: work.root).output)
                .compactMap { $0["path"] as? String }
        }
        #expect(try paths("*.rs") == ["src/b.rs", "a.rs", "a.rs", "src/b.rs"])
        #expect(try paths("a.rs", "empty") == ["empty", "a.rs", "a.rs", "empty"])
        #expect(try paths("*.rs", "-n", "1") == ["src/b.rs"])
        #expect(try paths("latest~1:src/b.rs") == ["src/b.rs"])
        expectRefusal(try Self.run(work, "log", "*.none"), 1, naming: "*.none")
        let patches = try Self.run(work, "log", "-p").text
        #expect(patches.contains("+fn a() { 1 }") && patches.contains("+fn b() { 2 }") && patches.contains("+no more"))
        let below = try Self.run(work, "log", "-p", "src").text
        #expect(below.contains("+fn b() { 2 }") && !below.contains("fn a()"), "\(below)")
        #expect(try Self.run(work, "log", "--stat").text.contains("  a.rs | +1 -1"))
    }

    @Test("log mentions another file that had the name before")
    func earlierLife() throws {
        let work = try Workplace()
        try work.write("a", String(repeating: "a long and winding text\n", count: 20))
        try work.write("b", String(repeating: "something else entirely\n", count: 20))
        _ = try work.capture()
        try work.remove("tree/b")
        _ = try work.capture()
        rename(work.path("tree/a").string, work.path("tree/b").string)
        _ = try work.capture()
        let outcome = try Self.run(work, "log", "b")
        #expect(outcome.errorText.contains("Another file was called b") && outcome.errorText.contains("--no-follow"))
        #expect(try Self.run(work, "log", "b", "--no-follow").errorText.isEmpty)
    }

    @Test("grep finds every equal line with --at, the interruptions of a line, and long lines whole")
    func grepTruths() throws {
        let work = try Workplace()
        let long = String(repeating: "x", count: 70_000)
        try work.write("poem", "again\nagain\nother\nagain\n")
        try work.write("long", long + "1\n" + long + "2\n")
        let first = try work.capture()
        try work.write("poem", "other\n")
        let second = try work.capture()
        try work.write("poem", "again\nother\n")
        let third = try work.capture()
        #expect(try Self.run(work, "grep", "again", "--at", "oldest").lines.count == 3)
        #expect(try Self.run(work, "grep", "xxx", "long").lines.count == 2)
        let found = try #require(try JSON.array(Self.run(work, "grep", "again", "--json").output).first)
        #expect(found["first"] as? String == first && found["gone"] as? String == nil)
        let gap = try #require((found["interruptions"] as? [[String: Any]])?.first)
        #expect(gap["goneIn"] as? String == second && gap["backIn"] as? String == third)
        let shown = try Self.run(work, "grep", "again", "--format", "table").text
        #expect(shown.contains("  \(third.prefix(8))  ") && shown.contains("not from "), "\(shown)")
        #expect(try Self.run(work, "cat", "\(third.prefix(8)):poem").status == 0)
        // Words, context, and the window.
        #expect(try Self.run(work, "grep", "-w", "agai").status == 1)
        #expect(try Self.run(work, "grep", "-C", "1", "again", "poem").text.contains("# context\t2\tother"))
        #expect(try Self.run(work, "grep", "again", "-n", "1").lines.filter { !$0.hasPrefix("#") }.count == 1)
    }

    @Test("find ignores case, finds a content under any name, and searches all roots")
    func findMore() throws {
        let work = try Workplace()
        try work.write("Report.TXT", "a report\n")
        _ = try work.capture()
        try work.copyTree(to: "other")
        #expect(try work.run("capture", work.path("other").string).status == 0)
        #expect(try Self.run(work, "find", "report").lines.isEmpty)
        #expect(try Self.run(work, "find", "-i", "report").lines.count == 1)
        rename(work.path("tree/Report.TXT").string, work.path("tree/renamed").string)
        _ = try work.capture()
        let content = try Self.run(work, "find", "--content", work.path("other/Report.TXT").string)
        #expect(content.lines.count == 2, "\(content.text)")
        let all = try Self.run(work, "find", "-i", "report", "--all")
        #expect(all.lines.contains { $0.hasPrefix(work.path("other/Report.TXT").string + "\t") }, "\(all.text)")
        #expect(try Self.run(work, "grep", "a report", "--all").lines.count == 3)
        #expect(try Self.run(work, "deleted", "--all").lines.isEmpty)
    }

    @Test("deleted takes files, directories and patterns")
    func deletedPaths() throws {
        let work = try Workplace()
        for name in ["a.rs", "b.txt", "sub/c.rs"] { try work.write(name, name) }
        _ = try work.capture()
        for name in ["a.rs", "b.txt", "sub"] { try work.remove("tree/" + name) }
        _ = try work.capture()
        func paths(_ words: String...) throws -> [String] {
            try JSON.array(work.run((["deleted", "--json"] + words).map { Array($0.utf8) }, in: work.root).output)
                .compactMap { $0["path"] as? String }
        }
        #expect(try paths("*.rs").sorted() == ["a.rs", "sub/c.rs"])
        #expect(try paths("b.txt", "a.rs").sorted() == ["a.rs", "b.txt"])
        #expect(try paths("-n", "1").count == 1)
    }

    @Test("restore and cat take patterns")
    func patterns() throws {
        let work = try Workplace()
        for name in ["a.md", "sub/b.md", "c.txt"] { try work.write(name, name + "\n") }
        _ = try work.capture()
        for name in ["a.md", "sub", "c.txt"] { try work.remove("tree/" + name) }
        #expect(try Self.run(work, "cat", "latest", "*.md").text == "a.md\nsub/b.md\n")
        #expect(try Self.run(work, "cat", "latest", "sub/*.md").text == "sub/b.md\n")
        #expect(try Self.run(work, "restore", "latest", "*.md").status == 0)
        #expect(try work.read("tree/sub/b.md") == Array("sub/b.md\n".utf8))
        #expect(access(work.path("tree/c.txt").string, F_OK) != 0)
        expectRefusal(try Self.run(work, "restore", "latest", "*.none"), 1, naming: "*.none")
    }

    @Test("a pattern after a selector's colon works as one without a selector, in every command with such a path")
    func patternsInSnapshots() throws {
        let work = try Workplace()
        for name in ["a.md", "sub/b.md", "c.txt"] { try work.write(name, name + "\n") }
        _ = try work.capture()
        for name in ["a.md", "sub/b.md", "c.txt"] { try work.write(name, "changed " + name + "\n") }
        _ = try work.capture()
        #expect(try Self.run(work, "cat", "oldest:*.md").text == "a.md\nsub/b.md\n")
        #expect(try Self.run(work, "cat", "oldest:sub/*.md", "c.txt").text == "sub/b.md\nc.txt\n")
        let shown = try Self.run(work, "show", "latest:*.md").lines
        #expect(shown.count == 2 && shown.allSatisfy { $0.hasSuffix(".md") }, "\(shown)")
        #expect(try Self.run(work, "diff", "oldest:*.md", "latest").lines.count == 2)
        #expect(try Self.run(work, "diff", "oldest", "latest:su*").text.contains("sub/b.md"))
        #expect(try Self.run(work, "changes", "oldest:*.md").lines.count == 2)
        #expect(try Self.run(work, "changes", "oldest:*.txt", "--timeline").lines.count == 1)
        #expect(try Self.run(work, "restore", "oldest:*.md").status == 0)
        #expect(try work.read("tree/a.md") == Array("a.md\n".utf8))
        #expect(try work.read("tree/c.txt") == Array("changed c.txt\n".utf8))
        for words in [["cat", "oldest:*.none"], ["diff", "oldest:*.none", "latest"], ["changes", "oldest:*.none"]] {
            expectRefusal(try work.run(words.map { Array($0.utf8) }, in: work.root), 1, naming: "*.none")
        }
    }

    @Test("commands that take one path take a pattern for it, and name the matches if it has several")
    func onePattern() throws {
        let work = try Workplace()
        for name in ["a.md", "sub/b.md", "sub/c.txt"] { try work.write(name, name + "\n") }
        _ = try work.capture()
        try work.write("sub/c.txt", "two\n")
        _ = try work.capture()
        #expect(try Self.run(work, "blame", "*.txt").status == 64)
        #expect(try Self.run(work, "blame", "sub/*.txt").lines.count == 1)
        #expect(try Self.run(work, "usage", "su*").text.contains("sub/c.txt"))
        #expect(
            try Self.run(work, "bisect", "--good", "oldest", "--path", "sub/*.txt", "--", "grep", "-q", "two", "x")
                .errorText.contains("bad as well"))
        expectRefusal(try Self.run(work, "blame", "*.md"), 64, naming: "a.md, sub/b.md")
        #expect(
            try Self.run(work, "purge", "*.md", "--dry-run").lines.prefix(2) == [
                "a.md: in 2 snapshots", "sub/b.md: in 2 snapshots",
            ])
        // A pattern in a directory is about that directory.
        let below = try work.run(["purge", "*.md", "--dry-run"].map { Array($0.utf8) }, in: work.path("tree/sub"))
        #expect(below.lines.first == "sub/b.md: in 2 snapshots", "\(below.text)")
    }

    @Test("pinning again keeps the reason and the end unless they are given")
    func pinAgain() throws {
        let work = try Workplace()
        _ = try work.capture()
        #expect(try Self.run(work, "pin", "latest", "--reason", "printed", "--expires", "30d").status == 0)
        let again = try JSON.object(Self.run(work, "pin", "latest", "--json").output)
        #expect(again["reason"] as? String == "printed" && again["until"] is String)
        let changed = try JSON.object(Self.run(work, "pin", "latest", "--reason", "sent", "--json").output)
        #expect(changed["reason"] as? String == "sent" && changed["until"] is String)
    }

    @Test("a rewind is no work of the turn before it")
    func turns() throws {
        let work = try Workplace()
        _ = try work.capture()
        #expect(try Self.run(work, "mark", "one", "--wait").status == 0)
        try work.write("new", "new\n")
        _ = try work.capture()
        let before = try JSON.array(Self.run(work, "turns", "--json").output)
        #expect(before.first?["added"] as? Int == 1)
        #expect(try Self.run(work, "rewind").status == 0)
        let after = try JSON.array(Self.run(work, "turns", "--json").output)
        #expect(after.first?["added"] as? Int == 1 && after.first?["removed"] as? Int == 0, "\(after)")
    }

    @Test("status of one root counts all snapshots of the archive where it says archive")
    func statusCounts() throws {
        let work = try Workplace()
        _ = try work.capture()
        try work.copyTree(to: "other")
        #expect(try work.run("capture", work.path("other").string).status == 0)
        let lines = try Self.run(work, "status", ".").lines
        #expect(lines.contains { $0.hasPrefix("archive ") && $0.contains(": 2 snapshots, ") }, "\(lines)")
    }

    @Test("the sizes that status and usage show are together what the files have")
    func sizes() throws {
        let work = try Workplace()
        _ = try work.capture()
        let archive = try #require(
            try JSON.object(Self.run(work, "status", "--json").output)["archive"] as? [String: Any])
        let usage = try JSON.object(Self.run(work, "usage", "--json").output)
        let (used, reserved) = (archive["usedBytes"] as? Int ?? 0, archive["reservedBytes"] as? Int ?? 0)
        #expect(used == usage["usedBytes"] as? Int && reserved == usage["reservedBytes"] as? Int)
        #expect(reserved >= 1 << 20)
        #expect(try Self.run(work, "status").text.contains(" reserved for a full disk, "))
        #expect(try Self.run(work, "usage", "--format", "table").text.contains(", and reserves "))
        // The rest is small: locks, settings and archive.json.
        let files = try ChildProcess.run(
            "find", [work.archive.string, "-type", "f", "-printf", "%s\n"].map { Array($0.utf8) })
        let total = files.lines.compactMap { Int($0) }.reduce(0, +)
        #expect(abs(total - used - reserved) < 64 << 10, "\(files.text)")
    }

    @Test("a bisection whose ends are not good and bad is no usage error")
    func bisectEnds() throws {
        let work = try Workplace()
        _ = try work.capture()
        try work.write("empty", "x")
        _ = try work.capture()
        let outcome = try Self.run(work, "bisect", "--good", "oldest", "--", "false")
        #expect(outcome.status == 1 && outcome.errorText.contains("is bad as well"), "\(outcome.errorText)")
    }

    @Test(
        "before any use, list points to watch; a first capture on a terminal does, too",
        .enabled(if: Workplace.hasTerminals))
    func firstUse() throws {
        let work = try Workplace()
        expectRefusal(try work.run("list"), 10, naming: "'archiver watch DIR'")
        let first = try work.startOnTerminal("capture", work.root.string)
        #expect(try first.finish().text.contains("'archiver watch \(work.root)' captures every change"))
        try work.write("empty", "x")
        let second = try work.startOnTerminal("capture", work.root.string)
        #expect(try !second.finish().text.contains("archiver watch"))
    }

    @Test("helper files of editors are left out of new roots, as a rule that roots shows")
    func editorHelpers() throws {
        let work = try Workplace()
        let helpers = [".ch1.md.swp", ".#ch1.md", "#ch1.md#", ".~lock.ch1.odt#", ".ch1.md.kate-swp"]
        for name in helpers { try work.write(name, "x") }
        // vim makes a file 4913, and backups end with ~; but a user may choose such names.
        let own = ["4913", "ch1.md~"]
        for name in own { try work.write(name, "x") }
        _ = try work.capture()
        func names() throws -> [String] {
            try JSON.array(Self.run(work, "show", "latest", "--entries", "--json").output)
                .compactMap { $0["path"] as? String }
        }
        #expect(try Set(names()).isDisjoint(with: helpers))
        #expect(try Set(names()).isSuperset(of: own))
        let root = try #require(try JSON.array(Self.run(work, "roots", "--json").output).first)
        #expect((root["exclusions"] as? [String: Any])?["editorHelpers"] as? Bool == true)
        #expect(try Self.run(work, "roots").text.contains("helper files of editors"))
        // Options are added to the rule, and one turns it off.
        #expect(try Self.run(work, "roots", "set", ".", "--exclude", "*.aux").status == 0)
        #expect(try Self.run(work, "roots").text.contains("helper files of editors; excludes *.aux"))
        #expect(try Self.run(work, "roots", "set", ".", "--no-default-exclusions").status == 0)
        #expect(try Set(names()).isSuperset(of: helpers))
        #expect(try !Self.run(work, "roots").text.contains("helper files"))
    }

    @Test(
        "the first capture by sync, run or mark leaves helper files out, too",
        arguments: [["sync", "."], ["run", "--root", ".", "--", "true"], ["mark", "--wait", "--root", ".", "one"]])
    func editorHelpersElsewhere(words: [String]) throws {
        let work = try Workplace()
        try work.write(".ch1.md.swp", "x")
        #expect(try work.run(words.map { Array($0.utf8) }, in: work.root).status == 0)
        #expect(try Self.run(work, "find", ".ch1.md.swp").lines.isEmpty)
        #expect(try Self.run(work, "roots").text.contains("helper files of editors"))
    }

    @Test("log, sessions and turns list all roots together, the newest first")
    func allRoots() throws {
        let work = try Workplace()
        _ = try work.capture()
        try work.copyTree(to: "other")
        let other = work.path("other").string
        #expect(try work.run("capture", other).status == 0)
        try work.write("new", "x")
        _ = try work.capture()
        for root in [other, work.root.string] {
            #expect(try work.run("mark", "--wait", "--root", root, "one").status == 0)
        }
        let log = try work.run("log", "--all").lines.map { $0.split(separator: "\t").map(String.init) }
        #expect(log.map { $0[5] } == [work.root.string, other, work.root.string], "\(log)")
        let objects = try JSON.array(work.run("log", "--all", "--json").output)
        #expect(objects.compactMap { $0["root"] as? String }.count == 3)
        #expect(try work.run("log", "--all", "-n", "1").lines.count == 1)
        #expect(try work.run("log", "--all", "-p").text.contains("+x"))
        for list in ["sessions", "turns"] {
            let lines = try work.run(list, "--all").lines
            let shown = lines.map { $0.split(separator: "\t").last.map(String.init) }
            #expect(shown == [work.root.string, other], "\(lines)")
            let roots = try JSON.array(work.run(list, "--all", "--json").output).compactMap { $0["root"] as? String }
            #expect(roots == [work.root.string, other])
            #expect(try work.run(list, "--all", "--format", "table").text.contains("  " + other))
            expectRefusal(try work.run(list, "--all", "--root", other), 64, naming: "--all")
        }
        expectRefusal(try Self.run(work, "log", "--all", "new"), 64, naming: "path in one root")
    }

    @Test("names in printed commands can be pasted, whatever they contain")
    func printedCommands() throws {
        let work = try Workplace()
        _ = try work.capture()
        let name = "my $x\n!dir"
        mkdir(work.path(name).string, 0o755)
        for command in ["audit", "status"] {
            let error = try work.run(command, work.path(name).string).errorText
            let start = try #require(error.range(of: "archiver watch "), "\(error)")
            let end = try #require(error.range(of: "dir'", range: start.upperBound..<error.endIndex), "\(error)")
            let script = "echo " + error[start.upperBound..<end.upperBound]
            let echo = try ChildProcess.run("bash", ["-c", script].map { Array($0.utf8) })
            #expect(echo.text == work.path(name).string + "\n", "\(error)")
        }
    }

    @Test("watch leaves helper files out of a new root, and keeps the rules of an old one")
    func editorHelpersWhileWatching() throws {
        let work = try Workplace()
        #expect(try work.run("capture", work.root.string, "--no-default-exclusions").status == 0)
        let other = work.path("other")
        mkdir(other.string, 0o755)
        try work.write(".a.swp", "x")
        _ = try ChildProcess.run("cp", [work.path("tree/.a.swp").bytes, other.bytes])
        let watcher = try work.start("watch", work.root.string, other.string)
        // The roots are ready in any order.
        var awaited = Set([work.root, other])
        while !awaited.isEmpty {
            let line = try watcher.line { $0.contains("watching ") && !$0.contains("first capture") }
            awaited = awaited.filter { !line.contains("watching \($0): ") }
        }
        for (root, count) in [(work.root, 1), (other, 0)] {
            #expect(try work.run("sync", root.string).status == 0)
            let found = try work.run("find", ".a.swp", "--root", root.string)
            #expect(found.lines.count == count, "\(root): \(found.text)")
        }
    }

    @Test(
        "a dry run needs no archive that can be written to", .enabled(if: geteuid() == 0),
        arguments: [
            ["restore", "oldest"], ["undo"], ["forget", "oldest"], ["forget", "--until", "now"], ["keep", "--usual"],
            ["prune"], ["purge", "notes"], ["rewind"],
        ])
    func readOnly(words: [String]) throws {
        let work = try Workplace()
        _ = try work.capture()
        #expect(try Self.run(work, "mark", "one", "--wait").status == 0)
        try work.write("empty", "x")
        _ = try work.capture()
        #expect(try Self.run(work, "restore", "oldest").status == 0)
        let archive = work.archive.string
        let command =
            "mount --make-rprivate / && mount --bind \(archive) \(archive) && mount -o remount,ro,bind \(archive) && "
            + "exec '\(Workplace.program)' \(words.joined(separator: " ")) --dry-run"
        let outcome = try ChildProcess.run(
            "unshare", ["-m", "sh", "-c", command].map { Array($0.utf8) },
            environment: [
                "ARCHIVER_ARCHIVE": archive, "HOME": work.path("").string, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            ],
            directory: work.root)
        #expect(outcome.status == 0, "\(words): \(outcome.errorText)")
    }
}
