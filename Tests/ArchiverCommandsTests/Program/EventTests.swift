// Where events go: the command of --on-event, the log file, the journal.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct EventTests {
    private let work: Workplace
    private var file: FilePath { work.path(".config/archiver/config.toml") }
    private var log: FilePath { work.path("log") }

    init() throws { work = try Workplace() }

    private func text(_ path: FilePath) -> String { (try? String(contentsOfFile: path.string, encoding: .utf8)) ?? "" }

    /// Starts the program with both outputs in one.
    private func start(_ command: String, _ arguments: [String]) throws -> ChildProcess {
        try ChildProcess(
            "sh", (["-c", command + " 2>&1", Workplace.program.string] + arguments).map { Array($0.utf8) },
            environment: ["ARCHIVER_ARCHIVE": work.archive.string, "HOME": work.path("").string],
            directory: work.path(""))
    }

    /// Starts a watcher of the tree, and waits until it watches.
    private func watch(_ options: String...) throws -> ChildProcess {
        let process = try start(
            "exec \"$0\" \"$@\"", ["watch", work.root.string, "--settle", "10ms", "--json"] + options)
        try event("watching", process)
        return process
    }

    private func event(_ name: String, _ process: ChildProcess) throws {
        _ = try process.line { (try? JSON.object($0))?["event"] as? String == name }
    }

    private func end(_ process: ChildProcess) throws -> ChildProcess.Outcome {
        process.send(SIGTERM)
        let outcome = try process.finish()
        #expect(outcome.status == 0, "\(outcome.text)")
        return outcome
    }

    @Test("the command gets each event's name as $1 and its JSON on standard input")
    func command() throws {
        #expect(mkfifo(work.path("fifo").string, 0o600) == 0)
        let reader = try ChildProcess("cat", [Array(work.path("fifo").string.utf8)], directory: "/")
        let process = try watch("--on-event", "echo \"$1 $(cat)\" > '\(work.path("fifo"))'")
        // The first capture is an event, too.
        let line = try reader.line { $0.hasPrefix("snapshot {") }
        let object = try JSON.object(String(line.dropFirst("snapshot ".count)))
        #expect(object["event"] as? String == "snapshot")
        #expect(object["root"] as? String == work.root.string)
        _ = try reader.finish()
        _ = try end(process)
    }

    @Test(
        "a command that hangs, fails, prints without end or cannot be run delays no capture",
        arguments: [
            ("exec sleep 1000", ""), ("sleep 1000 & exit 0", ""),
            ("echo no such mailbox >&2; exit 7", "failed with status 7: no such mailbox"),
            ("exec cat /dev/zero", "it printed more than 64.0 KiB"), ("/no/such/program", "failed with status 127"),
            ("trap '' TERM; while :; do sleep 1; done", ""),
        ])
    func badCommand(_ command: String, _ complaint: String) throws {
        let process = try watch("--on-event", command)
        try work.write("one", "1")
        try event("snapshot", process)
        try work.write("two", "2")
        try event("snapshot", process)
        let outcome: ChildProcess.Outcome
        if complaint.isEmpty {
            outcome = try end(process)
        } else {
            try process.output { $0.contains("the command of --on-event") && $0.contains(complaint) }
            outcome = try end(process)
            #expect(outcome.text.components(separatedBy: complaint).count == 2, "it is said once")
        }
        #expect(try work.listed().count >= 2)
    }

    @Test("what a command has started ends with it")
    func descendants() throws {
        let process = try watch("--on-event", "sleep 987 & echo $! > '\(work.path("child"))'; exit 3")
        // It may have failed before the tree is watched.
        try process.output { $0.contains("failed with status 3") }
        let child = try #require(pid_t(text(work.path("child")).trimmingCharacters(in: .whitespacesAndNewlines)))
        // It has its signal; it may be a zombie until init has waited for it.
        let limit = ContinuousClock.now + .seconds(60)
        var state = text(FilePath("/proc/\(child)/stat"))
        while !(state.isEmpty || state.contains(") Z ") || !state.contains("(sleep)")), ContinuousClock.now < limit {
            sched_yield()
            state = text(FilePath("/proc/\(child)/stat"))
        }
        #expect(state.isEmpty || state.contains(") Z ") || !state.contains("(sleep)"), "\(state)")
        _ = try end(process)
    }

    @Test("a command whose own changes cause the next snapshot is bounded, and that is said")
    func loop() throws {
        // It takes the time of 60 captures and runs.
        let process = try watch("--on-event", "date +%s%N > '\(work.root)/stamp'; echo >> '\(work.path("runs"))'")
        _ = try process.line { $0.contains("does it change a watched file itself?") }
        #expect(text(work.path("runs")).count <= 61)
        // Captures go on meanwhile.
        try work.write("mine", "x")
        #expect(try work.run("sync", work.root.string).status == 0)
        #expect(try work.run("cat", "--root", work.root.string, "latest:mine").text == "x")
        _ = try end(process)
    }

    @Test("each event is one line of the log file, with time, level and fields; names cannot forge a line")
    func logFile() throws {
        let root = work.root.appending("a\nforged \u{9b}31m x=1")
        try work.write("a\nforged \u{9b}31m x=1/file", "x")
        let process = try start(
            "exec \"$0\" \"$@\"", ["watch", root.string, "--settle", "10ms", "--json", "--log-file", log.string])
        try event("watching", process)
        _ = try end(process)
        let lines = text(log).split(separator: "\n")
        #expect(
            lines.allSatisfy {
                $0.firstMatch(of: /^\d{4}-\d\d-\d\dT\S+Z (info|notice|warning|error) [a-z-]+( |$)/) != nil
            })
        for event in ["snapshot", "watching", "stopped"] {
            #expect(
                lines.contains { $0.contains(" info \(event) ") && $0.contains(" root=\"\(work.root)/a") }, "\(lines)")
        }
        #expect(!text(log).contains("\u{9b}"))
        var status = stat()
        #expect(stat(log.string, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test("the log says what other processes ask a watcher for, and with -v also their questions")
    func asked() throws {
        let process = try watch("--log-file", log.string, "-v")
        #expect(try work.run("status", work.root.string).status == 0)
        #expect(try work.run("audit", work.root.string).status == 0)
        _ = try end(process)
        let lines = text(log).split(separator: "\n").map { $0.drop { $0 != " " }.dropFirst() }
        #expect(
            lines.contains { $0.hasPrefix("debug asked action=status ") && $0.hasSuffix("root=\(work.root)") },
            "\(lines)")
        #expect(lines.contains { $0.hasPrefix("info asked action=audit milliseconds=") }, "\(lines)")
    }

    @Test("private logs name no directory and no file")
    func privateLogs() throws {
        let process = try watch("--log-file", log.string, "--private-logs")
        try work.write("new", "x")
        try event("snapshot", process)
        _ = try end(process)
        #expect(text(log).contains(" snapshot "))
        #expect(text(log).contains("root=root-1"))
        #expect(!text(log).contains("tree") && !text(log).contains("/"), "\(text(log))")
    }

    @Test("a renamed log file is begun again; one that cannot be written is said once, and watching goes on")
    func rotation() throws {
        let process = try watch("--log-file", log.string)
        try FileManager.default.moveItem(atPath: log.string, toPath: work.path("log.1").string)
        // An event's line is in the log when the next event is announced.
        for name in ["one", "another"] {
            try work.write(name, "1")
            try event("snapshot", process)
        }
        #expect(text(log).contains(" snapshot "))
        unlink(log.string)
        #expect(mkdir(log.string, 0o755) == 0)
        for name in ["two", "three"] {
            try work.write(name, "x")
            try event("snapshot", process)
        }
        #expect(rmdir(log.string) == 0)
        try work.write("four", "x")
        try event("snapshot", process)
        let outcome = try end(process)
        #expect(outcome.text.components(separatedBy: "the log file").count == 2, "\(outcome.text)")
        #expect(text(log).contains(" warning lost lines="), "\(text(log))")
    }

    @Test("a log file inside a watched root is refused, because each line would cause the next")
    func logInside() throws {
        let inside = work.root.appending("notes/log")
        // Before there is an archive, none is created.
        let first = try work.run("watch", work.root.string, "--log-file", inside.string)
        expectRefusal(first, 64, naming: "so each line would cause the next one")
        #expect(access(work.archive.string, F_OK) != 0)
        _ = try work.capture()
        let refused = try work.run("watch", work.root.string, "--log-file", inside.string)
        expectRefusal(refused, 64, naming: "so each line would cause the next one")
        try work.configure("log-file = \"\(inside)\"\n[[root]]\npath = \"\(work.root)\"\n")
        expectRefusal(try work.run("config", "check"), 64, naming: "\(file):1: the log file is inside the root")
        try work.configure("log-file = \"\(inside)\"\n[[root]]\npath = \"\(work.root)\"\nexclude = [\"notes/\"]\n")
        #expect(try work.run("config", "check").status == 0)
    }

    @Test("when the journal reads stderr, events are lines with a priority, and nothing else is printed")
    func journal() throws {
        let process = try start(
            "exec 2>&1; JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) exec \"$0\" \"$@\"",
            ["watch", work.root.string, "--settle", "10ms"])
        _ = try process.line { $0.contains("<6>watching ") }
        try work.write("new", "x")
        _ = try process.line { $0.contains("<6>snapshot ") && $0.contains("added=1") }
        process.send(SIGTERM)
        let outcome = try process.finish()
        #expect(outcome.status == 0)
        let others = outcome.lines.filter { $0.firstMatch(of: /^<[3-6]>[a-z-]+( |$)/) == nil }
        #expect(others.allSatisfy { $0.contains("created a new archive") }, "\(others)")
    }

    @Test("the service follows the file: a reload changes the command and the log file")
    func reload() throws {
        let root = "[[root]]\npath = \"\(work.root)\"\nsettle = \"10ms\"\n"
        try work.configure(root)
        let process = try start("exec \"$0\" \"$@\"", ["service", "--json"])
        try event("watching", process)
        try work.configure("log-file = \"\(log)\"\non-event = \"exit 9\"\nprivate-logs = true\n" + root)
        #expect(try work.run("reload").status == 0)
        let rows = try JSON.array(work.run("config", "--json").output)
        #expect(rows.contains { $0["key"] as? String == "on-event" && $0["from"] as? String == "\(file):2" })
        try work.write("new", "x")
        try event("snapshot", process)
        _ = try process.line { $0.contains("failed with status 9") }
        #expect(text(log).contains("snapshot ") && !text(log).contains("tree"))
        _ = try end(process)
    }
}
