// Replicas on the command line: from a new key to an archive that came back.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Replicas on the command line", .blocking, .timeLimit(.minutes(60)))
struct ReplicaTests {
    /// A workplace with a key and a directory for a replica.
    private struct Place {
        let work: Workplace
        let recipient: String
        let url: String
        var key: String { work.path("desk.key").string }

        init(adding: Bool = true) throws {
            work = try Workplace()
            mkdir(work.path("disk").string, 0o700)
            url = "file://" + work.path("disk").string
            let made = try work.run("keys", "new", "-o", work.path("desk.key").string)
            #expect(made.status == 0, "\(made.errorText)")
            recipient = try #require(made.lines.first)
            if !adding { return }
            #expect(try work.run("capture", work.root.string).status == 0)
            let added = try work.run("replica", "add", "disk", url, "--recipient", recipient)
            #expect(added.status == 0, "\(added.errorText)")
        }

        /// The names of the objects.
        func objects() throws -> [String] {
            let directory = work.path("disk").string
            return try #require(FileManager.default.enumerator(atPath: directory)).compactMap { $0 as? String }
                .filter { $0.hasSuffix(".age") }.sorted()
        }
    }

    @Test("a captured tree comes back from a clone with the key, and only with it")
    func roundTrip() throws {
        let place = try Place()
        let work = place.work
        try work.write("notes/todo.txt", "three\n")
        let captured = try work.run("capture", work.root.string, "--replicas")
        #expect(captured.status == 0, "\(captured.errorText)")
        let listed = try work.run("replica", "list", "--json")
        #expect(try JSON.array(listed.output).first?["missingBytes"] as? Int == 0, "\(listed.text)")
        #expect(try work.run("replica", "check", "--data", "--identity", place.key).status == 0)
        let tested = try work.run("replica", "test", "disk", "--identity", place.key)
        #expect(tested.status == 0 && tested.text.contains("20 random files"), "\(tested)")
        let status = try work.run("status")
        #expect(status.text.contains("replica disk: up to date"), "\(status.text)")
        #expect(try work.run("status", "--metrics").text.contains("archiver_replica_missing_bytes{replica=\"disk\"} 0"))

        let clone = work.path("clone").string
        let other = work.path("other.key").string
        #expect(try work.run("keys", "new", "-o", other).status == 0)
        let wrong = try work.run("replica", "clone", place.url, clone, "--identity", other)
        #expect(wrong.status == 12, "\(wrong.errorText)")
        #expect(try work.run("replica", "clone", place.url, work.path("none").string).status == 12)
        let cloned = try work.run("replica", "clone", place.url, clone, "--identity", place.key)
        #expect(cloned.status == 0, "\(cloned.errorText)")
        let target = work.path("restored").string
        let restored = try work.run(
            "--archive", clone, "restore", "latest", "--root", work.root.string, "--target", target)
        #expect(restored.status == 0, "\(restored.errorText)")
        #expect(try String(contentsOfFile: target + "/notes/todo.txt", encoding: .utf8) == "three\n")
        #expect(try work.run("--archive", clone, "check", "--data").status == 0)
    }

    @Test("the program age decrypts every object to the bytes of the segment")
    func age() throws {
        guard access("/usr/bin/age", X_OK) == 0 else { return }
        let place = try Place()
        #expect(try place.work.run("replica", "sync").status == 0)
        let objects = try place.objects()
        #expect(!objects.isEmpty)
        for object in objects {
            let path = place.work.path("disk").string + "/" + object
            let plain = try ChildProcess.run(
                "/usr/bin/age", ["-d", "-i", place.key, path].map { Array($0.utf8) })
            #expect(plain.status == 0, "\(plain.errorText)")
            #expect(plain.output.starts(with: Array("ARCHSEG\n".utf8)), "\(object)")
        }
    }

    @Test("what is wrong is said in a sentence with a remedy, with the right exit code")
    func refusals() throws {
        let place = try Place(adding: false)
        let work = place.work
        #expect(try work.run("capture", work.root.string).status == 0)
        func expect(_ status: Int32, _ words: String, _ arguments: String...) throws {
            let outcome = try work.run(arguments)
            #expect(outcome.status == status, "\(arguments): \(outcome.errorText)")
            #expect(outcome.errorText.contains(words), "\(arguments): \(outcome.errorText)")
            #expect(outcome.errorText.contains(" — "), "no remedy: \(outcome.errorText)")
            #expect(!outcome.errorText.contains("AGE-SECRET-KEY"))
        }
        let missing = "file://" + work.path("missing").string
        try expect(64, "no recipient", "replica", "add", "disk", place.url)
        try expect(1, "does not exist", "replica", "add", "disk", missing, "--recipient", place.recipient)
        let path = try work.run("replica", "add", "disk", "/mnt", "--recipient", place.recipient)
        #expect(path.status == 64 && path.errorText.contains("begin it with s3://"), "\(path.errorText)")
        try expect(64, "cannot be the name", "replica", "add", "a b", place.url, "--recipient", place.recipient)
        try expect(1, "no replica", "replica", "sync")
        try expect(1, "no replica 'none'", "replica", "remove", "none")
        try expect(1, "exists", "keys", "new", "-o", place.key)
        let bad = try work.run("replica", "add", "disk", place.url, "--recipient", "age1wrong")
        #expect(bad.status == 64 && bad.errorText.contains("is no recipient"), "\(bad.errorText)")
        // A key that fits none of the recipients.
        #expect(try work.run("keys", "new", "-o", work.path("other").string).status == 0)
        try expect(
            12, "fits none", "replica", "add", "disk", place.url, "--recipient", place.recipient, "--identity",
            work.path("other").string)
        try expect(
            12, "cannot be used", "replica", "clone", place.url, work.path("c").string, "--identity",
            work.root.string + "/empty")
        #expect(
            try work.run("replica", "add", "disk", place.url, "--recipient", place.recipient, "--identity", place.key)
                .status == 0)
        try expect(64, "has a replica 'disk'", "replica", "add", "disk", place.url, "--recipient", place.recipient)
        // Another archive.
        let other = work.path("second").string
        #expect(try work.run("--archive", other, "capture", work.root.string).status == 0)
        try expect(
            1, "another archive", "--archive", other, "replica", "add", "disk", place.url, "--recipient",
            place.recipient)
        // The disk is not mounted: captures go on.
        #expect(rename(work.path("disk").string, work.path("away").string) == 0)
        try expect(1, "does not exist", "replica", "sync")
        try work.write("notes/todo.txt", "later\n")
        #expect(try work.run("capture", work.root.string).status == 0)
        let status = try work.run("status", "--max-lag", "1h")
        #expect(status.text.contains("the replica 'disk' lacks"), "\(status.text)")
        #expect(status.status == 3)
        #expect(rename(work.path("away").string, work.path("disk").string) == 0)
        #expect(try work.run("replica", "sync").status == 0)
        #expect(try work.run("replica", "prune", "--grace", "0s").status == 0)
    }

    @Test("a watcher that is killed leaves everything announced in the replica, and the next one goes on")
    func killedWatcher() throws {
        let place = try Place()
        let work = place.work
        for round in 0..<3 {
            let watcher = try work.start("watch", work.root.string, "--json")
            try watcher.output { $0.contains("\"watching\"") }
            try work.write("notes/todo.txt", "round \(round)\n")
            #expect(try work.run("sync", work.root.string, "--replicas").status == 0)
            watcher.send(SIGKILL)
            _ = try watcher.finish()
            let clone = work.path("clone-\(round)").string
            let cloned = try work.run("replica", "clone", place.url, clone, "--identity", place.key)
            #expect(cloned.status == 0, "\(cloned.errorText)")
            let cat = try work.run("--archive", clone, "cat", "latest:notes/todo.txt", "--root", work.root.string)
            #expect(cat.text == "round \(round)\n", "\(cat.errorText)")
        }
    }

    @Test("a clone that is killed at any moment is finished by the next one")
    func killedClone() throws {
        let place = try Place()
        let work = place.work
        for number in 0..<8 {
            try work.write("f\(number)", (0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* ($0 ^ number) >> 3) })
            #expect(try work.run("capture", work.root.string, "--replicas").status == 0)
        }
        let clone = work.path("clone").string
        for calls in [1, 2, 4, 8, 16, 32, 64] {
            let child = try work.start("replica", "clone", place.url, clone, "--identity", place.key)
            for _ in 0..<calls * 50 { sched_yield() }
            child.send(SIGKILL)
            _ = try child.finish()
            if access(clone + "/archive.json", F_OK) == 0, access(clone + "/clone.unfinished", F_OK) != 0 { break }
        }
        let done = try work.run("replica", "clone", place.url, clone, "--identity", place.key)
        #expect(
            done.status == 0 || done.errorText.contains("is not empty"), "\(done.status): \(done.errorText)")
        #expect(try work.run("--archive", clone, "check", "--data").status == 0)
    }

    @Test(
        "a passphrase is typed without being shown, keys erase it, and Ctrl-C leaves the terminal as it was",
        .enabled(if: Workplace.hasTerminals))
    func passphrase() throws {
        let work = try Workplace()
        let fifo = work.path("keys")
        #expect(mkfifo(fifo.string, 0o600) == 0)
        let typing = Glibc.open(fifo.string, O_RDWR | O_CLOEXEC)
        defer { close(typing) }
        /// Makes an identity on a terminal, and prints how it ended and the terminal's settings.
        func make(_ name: String, typing answers: [(question: String, keys: String)]) throws -> ChildProcess.Outcome {
            let command =
                "'\(Workplace.program)' keys new --passphrase -o '\(work.path(name))'; echo \"rc=$?\"; stty -a"
            let child = try ChildProcess(["script", "-qec", command, "/dev/null"], input: fifo)
            for (question, keys) in answers {
                try child.output { $0.contains(question) }
                #expect(write(typing, keys, keys.utf8.count) == keys.utf8.count)
            }
            return try child.finish()
        }
        let interrupted = try make("none", typing: [("New passphrase", "secret\u{3}")])
        #expect(interrupted.text.contains("rc=130"), "\(interrupted.text)")
        #expect(interrupted.text.contains(" echo ") && interrupted.text.contains(" icanon "), "\(interrupted.text)")
        #expect(!FileManager.default.fileExists(atPath: work.path("none").string))
        let differing = try make("none", typing: [("New passphrase", "secret\n"), ("Again", "secrets\n")])
        #expect(differing.text.contains("differ") && differing.text.contains("rc=12"), "\(differing.text)")
        #expect(!FileManager.default.fileExists(atPath: work.path("none").string))
        // One character too many is erased, and a whole line.
        let made = try make(
            "key", typing: [("New passphrase", "secre\u{e9}\u{7f}t\n"), ("Again", "other\u{15}secret\n")])
        #expect(made.text.contains("rc=0") && made.text.contains("age1"), "\(made.text)")
        #expect(!made.text.contains("secre"), "it is shown")
        let file = try Data(contentsOf: URL(filePath: work.path("key").string))
        #expect(
            file.range(of: Data("AGE-SECRET-KEY".utf8)) == nil && file.starts(with: Data("age-encryption.org/v1".utf8)))
    }

    @Test(
        "a signal at a passphrase ends the program, and leaves the terminal as it was",
        .enabled(if: Workplace.hasTerminals), arguments: [SIGTERM, SIGHUP, SIGINT])
    func signal(_ signal: CInt) throws {
        let work = try Workplace()
        let fifo = work.path("keys")
        #expect(mkfifo(fifo.string, 0o600) == 0)
        let typing = Glibc.open(fifo.string, O_RDWR | O_CLOEXEC)
        defer { close(typing) }
        let start = "echo \"id=$$.\"; exec '\(Workplace.program)' keys new --passphrase -o '\(work.path("none"))'"
        let child = try ChildProcess(
            ["script", "-qec", "sh -c '\(start.replacing("'", with: "'\\''"))'; echo \"rc=$?\"; stty -a", "/dev/null"],
            input: fifo)
        var shown = ""
        try child.output { text in
            shown = text
            return text.contains("New passphrase")
        }
        let id = try #require(shown.firstMatch(of: /id=(\d+)\./)?.1)
        #expect(write(typing, "sec", 3) == 3)
        #expect(kill(try #require(pid_t(id)), signal) == 0)
        let outcome = try child.finish()
        #expect(outcome.text.contains("rc=\(128 + signal)"), "\(outcome.text)")
        #expect(outcome.text.contains(" echo ") && outcome.text.contains(" icanon "), "\(outcome.text)")
    }

    @Test("every command that reads takes a replica's address, and those that write refuse and name the clone")
    func readOnly() throws {
        let place = try Place()
        let work = place.work
        try work.write("notes/todo.txt", "three\n")
        #expect(try work.run("capture", work.root.string, "--replicas").status == 0)
        let root = ["--root", work.root.string]
        func run(_ words: [String]) throws -> ChildProcess.Outcome {
            try work.run(words + ["--archive", place.url, "--identity", place.key])
        }
        let target = work.path("restored").string
        for words in [
            ["list"] + root, ["list", "--all"], ["log"] + root, ["show", "latest"] + root,
            ["cat", "latest:notes/todo.txt"] + root,
            ["diff", "latest~1", "latest"] + root, ["find", "todo"] + root, ["grep", "three"] + root,
            ["blame", "notes/todo.txt"] + root, ["deleted"] + root, ["changes"] + root, ["sessions"] + root,
            ["roots"], ["usage"] + root, ["check"], ["pin"] + root, ["note"] + root,
            ["restore", "latest", "--target", target] + root,
        ] {
            let outcome = try run(words)
            #expect(outcome.status == 0, "\(words): \(outcome.status) \(outcome.errorText)")
        }
        let restored = work.path("restored/notes/todo.txt").string
        #expect(try String(contentsOfFile: restored, encoding: .utf8) == "three\n")
        let before = try place.objects()
        for words in [
            ["capture", work.root.string], ["watch", work.root.string], ["label", "latest", "good"] + root,
            ["pin", "latest"] + root, ["forget", "latest~1"] + root, ["prune"], ["undo", work.root.string],
            ["restore", "latest~1"] + root, ["repair"], ["purge", "notes/todo.txt", "--yes"] + root,
            ["replica", "add", "more", place.url, "--recipient", place.recipient], ["keep", "--daily", "7d"],
            ["status"],
        ] {
            let outcome = try run(words)
            #expect(outcome.status != 0, "\(words)")
            #expect(
                outcome.errorText.contains("can only be read") && outcome.errorText.contains("replica clone"),
                "\(words): \(outcome.errorText)")
        }
        #expect(try place.objects() == before)
        // The variable, a wrong key, no key, another signer, and an address that is wrong.
        let variable = try work.run("roots", "--identity", place.key, environment: ["ARCHIVER_ARCHIVE": place.url])
        #expect(variable.status == 0, "\(variable.errorText)")
        #expect(try work.run("keys", "new", "-o", work.path("other").string).status == 0)
        let wrong = try work.run("--archive", place.url, "--identity", work.path("other").string, "list", "--all")
        #expect(wrong.status == 12, "\(wrong.errorText)")
        #expect(try work.run("--archive", place.url, "list", "--all").status == 12)
        let signer = String(repeating: "0", count: 64)
        let signed = try run(["list", "--all", "--signer", signer])
        #expect(signed.status == 1 && signed.errorText.contains("is signed by"), "\(signed.errorText)")
        // The directory's path instead of its address.
        let path = try work.run("--archive", work.path("disk").string, "--identity", place.key, "list", "--all")
        #expect(path.status == 10 && path.errorText.contains("--archive \(place.url)"), "\(path.errorText)")
        let missing = try work.run("--archive", place.url + "-none", "--identity", place.key, "list", "--all")
        #expect(
            missing.status == 1 && missing.errorText.contains("does not exist") && missing.errorText.contains("mount"),
            "\(missing.errorText)")
    }

    @Test("a fleet is listed without a key, and --max-lag finds the machine that has stopped")
    func fleet() throws {
        let place = try Place()
        let work = place.work
        #expect(try work.run("replica", "sync").status == 0)
        let above = "file://" + work.path("disk").removingLastComponent().string
        let listed = try work.run("fleet", above, "--max-lag", "24h", "--json")
        #expect(listed.status == 0, "\(listed.errorText)")
        let rows = try JSON.array(listed.output)
        #expect(rows.count == 1 && rows.first?["replica"] as? String == "disk/", "\(listed.text)")
        #expect((rows.first?["storedBytes"] as? Int ?? 0) > 0 && rows.first?["completeUntil"] is String)
        // Objects without a description.
        #expect(unlink(work.path("disk/archiver-replica.json").string) == 0)
        let broken = try work.run("fleet", above, "--max-lag", "24h")
        #expect(broken.status == 3 && broken.errorText.contains("archiver-replica.json"), "\(broken.errorText)")
        #expect(try work.run("fleet", "file:///none/there").status == 1)
    }

    @Test(
        "a passphrase is asked for and not shown, and a wrong one is a wrong identity",
        .enabled(if: Workplace.hasTerminals))
    func askedPassphrase() throws {
        let place = try Place()
        let work = place.work
        #expect(try work.run("replica", "sync").status == 0)
        let fifo = work.path("keys")
        #expect(mkfifo(fifo.string, 0o600) == 0)
        let typing = Glibc.open(fifo.string, O_RDWR | O_CLOEXEC)
        defer { close(typing) }
        func type(_ words: [String], _ answers: [(question: String, answer: String)]) throws -> ChildProcess.Outcome {
            let child = try work.startOnTerminal(words, keys: fifo)
            for (question, answer) in answers {
                try child.output { $0.contains(question) }
                let bytes = Array((answer + "\n").utf8)
                #expect(write(typing, bytes, bytes.count) == bytes.count)
            }
            return try child.finish()
        }
        let file = work.path("protected.key").string
        let differing = try type(
            ["keys", "new", "-o", file, "--passphrase"], [("New passphrase", "one"), ("Again", "two")])
        #expect(differing.text.contains("differ") && access(file, F_OK) != 0, "\(differing.text)")
        let made = try type(
            ["keys", "new", "-o", file, "--passphrase"], [("New passphrase", "let me in"), ("Again", "let me in")])
        #expect(access(file, F_OK) == 0, "\(made.text)")
        #expect(!made.text.contains("let me in"), "it is shown")
        let recipient = try #require(made.text.firstMatch(of: /age1[a-z0-9]+/)).0
        #expect(try !String(contentsOfFile: file, encoding: .isoLatin1).contains("AGE-SECRET-KEY"))
        let url = "file://" + work.path("second").string
        mkdir(work.path("second").string, 0o700)
        #expect(try work.run("replica", "add", "second", url, "--recipient", String(recipient)).status == 0)
        #expect(try work.run("replica", "sync", "second").status == 0)
        let list = ["--archive", url, "--identity", file, "list", "--all"]
        let wrong = try type(list, [("Passphrase", "let me out")])
        #expect(wrong.text.contains("cannot be used") && wrong.status == 12, "\(wrong.status) \(wrong.text)")
        let right = try type(list, [("Passphrase", "let me in")])
        #expect(right.status == 0 && right.text.contains("first snapshot"), "\(right.text)")
    }
}
