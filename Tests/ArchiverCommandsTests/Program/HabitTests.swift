// What users of git, restic and borg type: it works, or the error names the right way.

import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct HabitTests {
    /// Words that other programs know, and that work; the last one changes the tree.
    private static let works: [[String]] = [
        ["log", "-n2"], ["log", "-n", "2", "notes"], ["log", "-p"], ["log", "--stat", "notes/todo.txt"], ["diff"],
        ["diff", "--stat"], ["diff", "--word-diff"], ["diff", "-p", "oldest"], ["list", "-n", "1"],
        ["list", "."], ["cat", "latest", "notes/todo.txt"], ["cat", "oldest", "notes/todo.txt", "empty"],
        ["grep", "-E", "-i", "-w", "ONE"], ["grep", "-C1", "one", "notes"], ["find", "-i", "TODO"],
        ["--version"], ["help", "log"], ["log", "*.txt"], ["log", "latest~1:notes/todo.txt"],
        ["operations", "-n", "3"], ["sessions", "--since", "1d"], ["usage", "-n1"], ["list", "--since", "@1d"],
        ["deleted", "*.txt"], ["show"], ["blame", "-L1,2", "notes/todo.txt"], ["log", "-L1,2", "notes/todo.txt"],
        ["log", "--", "notes/todo.txt"], ["log", "--since=2 days ago"], ["diff", "latest~1", "latest"],
        ["log", "-p", "-n1"], ["status", "-q", "--json"],
        ["list", "--json", "-q"],
        ["restore", "oldest", "--", "old.txt"],
    ]

    @Test("a habit of another program works")
    func right() throws {
        let work = try HabitTests.workplace()
        for words in HabitTests.works {
            let outcome = try HabitTests.run(words, work)
            #expect(outcome.status == 0, "\(words): \(outcome.errorText)")
            #expect(outcome.errorText.isEmpty || outcome.output.isEmpty, "\(words): \(outcome.errorText)")
        }
    }

    /// Words that do not work, and what the error names.
    private static let leads: [([String], way: String)] = [
        (["info"], "'status' or 'show'"), (["stats"], "'usage'"), (["rm", "x"], "'forget' or 'purge'"),
        (["tag", "v1"], "'label'"), (["restore", "latest", "--to", "x"], "'--target'"),
        (["list", "--last", "3"], "'--limit'"), (["undo", "-n"], "'--dry-run'"),
        (["keep", "--daily", "7"], "'7d' means 7 days"), (["-version"], "'--version'"),
        (["diff", "--text"], "'--patch'"), (["list", "notes"], "'archiver log notes'"),
        (["cat", ""], "no snapshot was chosen"), (["restore", ""], "no snapshot was chosen"),
        (["list", "--since", "2999-01-01"], "is in the future"),
        (["log", "--since", "2999-01-01"], "is in the future"),
        (["grep", "x", "--since", "1d", "--until", "2d"], "is later than"),
        (["list", "--since", "x"], "is not a time"), (["deleted", "--until", "x"], "is not a time"),
        // git
        (["log", "-3"], "'-n 3'"), (["log", "--oneline"], "one line"), (["log", "--follow", "x"], "are followed"),
        (["log", "-S", "x"], "'archiver grep'"), (["status", "-s"], "'-q'"), (["diff", "HEAD"], "'latest'"),
        (["diff", "HEAD~1"], "write 'latest~1'"), (["show", "HEAD^:notes/todo.txt"], "'latest~1:notes/todo.txt'"),
        (["diff", "oldest..latest"], "oldest latest"), (["diff", "--cached"], "latest snapshot"),
        (["diff", "--name-only"], "only names"), (["diff", "notes/todo.txt"], "'latest:notes/todo.txt'"),
        (["restore", "--source", "oldest", "x"], "archiver restore SNAPSHOT PATH"),
        (["checkout", "x"], "'restore'"), (["log", "--graph"], "one line of history"),
        (["log", "--pretty=oneline"], "'--format lines'"), (["diff", "-w"], "'--word-diff'"),
        (["list", "--limt", "3"], "'--limit'"), (["list", "--root", ".", "--limt", "3"], "'--limit'"),
        (["grep", "-r", "x"], "directories are searched"), (["grep", "-n", "x"], "line numbers are always shown"),
        (["blame", "latest~1", "notes/todo.txt"], "blame latest~1:FILE"),
        (["log", "HEAD~1..HEAD"], "'archiver changes'"),
        (["diff", "HEAD~2..HEAD"], "latest~2 latest"), (["changes", "oldest..latest"], "oldest latest"),
        (["list", "@1d"], "'archiver show @1d'"), (["grep", "-v", "x"], "do not match"),
        (["merge", "x"], "one line"),
        (["switch", "x"], "'restore'"), (["help", "--all"], "'archiver help commands'"),
        (["log", "-limit", "3"], "'--limit'"),
        (["-C", "/tmp", "list"], "--root"), (["reflog"], "'operations'"), (["commit", "-m", "x"], "'capture'"),
        // restic and borg
        (["snapshots"], "'list'"), (["backup", "."], "'capture'"), (["ls", "latest"], "'show' or 'list'"),
        (["check", "--read-data"], "'--data'"), (["forget", "--keep-last", "5"], "'archiver keep'"),
        (["prune", "--keep-daily", "7"], "'archiver keep'"), (["dump", "latest", "x"], "'cat'"),
        (["mount", "/mnt"], "'browse'"), (["-r", "/x", "list"], "'--archive'"),
        (["find", "-name", "x"], "archiver find PATTERN"), (["unlock"], "nothing to unlock"),
        (["pin", "latest", "--expires", "2001-01-01"], "is in the past"),
        (["create", "x", "."], "'capture'"),
        (["extract", "x"], "'restore'"), (["delete", "x"], "'forget' or 'purge'"), (["version"], "'--version'"),
        (["restore", "latest", "--include", "x"], "archiver restore SNAPSHOT PATH"),
    ]

    @Test("a habit that does not work names the right way")
    func wrong() throws {
        let work = try HabitTests.workplace()
        for (words, way) in HabitTests.leads {
            let outcome = try HabitTests.run(words, work)
            expectRefusal(outcome, 64, naming: "")
            #expect(outcome.errorText.contains(way), "\(words): \(outcome.errorText)")
        }
    }

    @Test(
        "an option that is hardly similar to one of the command suggests nothing", arguments: ["--graph", "--newest"])
    func strangeOption(option: String) throws {
        let outcome = try HabitTests.run(["list", option], HabitTests.workplace())
        expectRefusal(outcome, 64, naming: option)
        #expect(outcome.errorText.contains("— see 'archiver list --help'"), "\(outcome.errorText)")
    }

    @Test("a wrong use of a command within another names the help of the inner one")
    func innerHelp() throws {
        let outcome = try HabitTests.run(["replica", "add"], HabitTests.workplace())
        expectRefusal(outcome, 64, naming: "")
        #expect(outcome.errorText.contains("— see 'archiver replica add --help'"), "\(outcome.errorText)")
    }

    @Test(
        "a path in a snapshot that does not exist is an error about the snapshot",
        arguments: ["latest~7:notes/todo.txt", "7c11e0:notes/todo.txt"])
    func missingSnapshot(argument: String) throws {
        let work = try HabitTests.workplace()
        for command in ["cat", "restore", "show", "diff"] {
            let outcome = try HabitTests.run([command, argument], work)
            expectRefusal(outcome, 1, naming: String(argument.prefix { $0 != ":" }))
            #expect(!outcome.errorText.contains("is a path"), "\(outcome.errorText)")
        }
    }

    @Test("the name of a deleted file in the place of a snapshot names the snapshot that has it")
    func deletedName() throws {
        let outcome = try HabitTests.run(["restore", "old.txt"], HabitTests.workplace())
        expectRefusal(outcome, 1, naming: "deleted")
        #expect(outcome.errorText.contains(":old.txt' brings it back"), "\(outcome.errorText)")
        // From above two roots, the path chooses its own.
        let work = try Workplace()
        try work.write("old.txt", "one\n")
        _ = try work.capture()
        try work.remove("tree/old.txt")
        _ = try work.capture()
        mkdir(work.path("other").string, 0o755)
        _ = try work.run("capture", "other")
        let above = try work.run("cat", "tree/old.txt")
        expectRefusal(above, 1, naming: "deleted")
        #expect(above.errorText.contains(":old.txt --root \(work.root)' brings it back"), "\(above.errorText)")
    }

    /// A captured tree with two snapshots.
    private static func workplace() throws -> Workplace {
        let work = try Workplace()
        try work.write("old.txt", "one\n")
        _ = try work.capture()
        try work.write("notes/todo.txt", "one\ntwo\nthree\n")
        try work.remove("tree/old.txt")
        _ = try work.capture()
        return work
    }

    /// Runs `words` in the tree.
    private static func run(_ words: [String], _ work: Workplace) throws -> ChildProcess.Outcome {
        try work.run(words.map { Array($0.utf8) }, in: work.root)
    }
}
