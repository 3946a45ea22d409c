// `archiver bisect` finds a planted bug, or reports why it cannot.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct BisectTests {
    private let work: Workplace
    private var scratch: FilePath { work.path("scratch") }

    init() throws {
        work = try Workplace()
        _ = try ChildProcess.run(
            "mkdir", [work.path("scratch").string, work.path("out").string].map { Array($0.utf8) })
    }

    private func bisect(_ words: String...) throws -> ChildProcess.Outcome {
        try work.run(
            (["bisect"] + words).map { Array($0.utf8) }, in: work.root, environment: ["TMPDIR": scratch.string])
    }

    /// Captures `count` states; the file `number` contains the number of each.
    private func history(_ count: Int, _ change: (Int) throws -> Void = { _ in }) throws -> [String] {
        try (0..<count).map { number in
            try work.write("number", "\(number)\n")
            try change(number)
            return try work.capture()
        }
    }

    /// The temporary directories that are left of tested states.
    private func leftovers() throws -> [String] {
        try ChildProcess.run("ls", [scratch.string].map { Array($0.utf8) }).lines
    }

    @Test("a planted bug is found in few runs; the tree is unchanged, and no temporary files are left")
    func planted() throws {
        let ids = try history(40)
        try work.copyTree(to: "before")
        let outcome = try bisect(
            "--json", "--good", "oldest", "--", "sh", "-c", "echo x >> \(work.path("out")); test $(cat number) -lt 23")
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let found = try JSON.object(outcome.output)
        #expect((found["firstBad"] as? [String: Any])?["id"] as? String == ids[23])
        #expect((found["lastGood"] as? [String: Any])?["id"] as? String == ids[22])
        // ⌈log₂ 40⌉ + 2
        #expect(try #require(found["runs"] as? Int) <= 8)
        #expect(try work.difference(of: work.root, and: "before").isEmpty)
        #expect(try leftovers().isEmpty)
        let plain = try bisect("--find-good", "--bad", ids[30], "--", "sh", "-c", "test $(cat number) -lt 23")
        #expect(plain.lines.count == 1 && plain.text.hasPrefix(ids[23].prefix(8)), "\(plain.text)\(plain.errorText)")
    }

    @Test("each state matches its snapshot, whatever the command changed in the previous one, and build products stay")
    func states() throws {
        let ids = try history(7) { number in
            // A file replaces a directory and the reverse; links, times and permissions change.
            try work.remove("tree/place")
            if number % 2 == 0 {
                try work.write("place", "file \(number)\n")
            } else {
                try work.write("place/in", "\(number)\n")
            }
            try work.remove("tree/link")
            symlink("target \(number)", work.path("tree/link").string)
            chmod(work.path("tree/empty").string, number % 3 == 0 ? 0o600 : 0o644)
            if number == 5 { try work.remove("tree/notes") }
            try work.copyTree(to: "state \(number)")
        }
        // The command copies the state that it sees, and then changes it.
        let script = """
            n=$(cat number); cp -a . "\(work.path("out"))/$n"; test -e built || echo $n > built; rm -rf notes; echo more >> data.bin
            mkdir -p place 2>&- && echo product > place/product; echo $n >> empty; test $n -lt 4
            """
        let outcome = try bisect("--good", ids[0], "--", "sh", "-c", script)
        #expect(outcome.status == 0 && outcome.text.hasPrefix(ids[4].prefix(8)), "\(outcome.text)\(outcome.errorText)")
        var tested = 0
        for number in 0..<7 where access(work.path("out/\(number)").string, F_OK) == 0 {
            tested += 1
            let copy = work.path("out/\(number)")
            let difference = try ChildProcess.run(
                "diff",
                ["-r", "--no-dereference", "-x", "built", "-x", "product", "state \(number)", copy.string]
                    .map { Array(($0.hasPrefix("state") ? work.path($0).string : $0).utf8) }
            ).text
            #expect(difference.isEmpty, "state \(number): \(difference)")
        }
        #expect(tested >= 4)
    }

    @Test("ends that are both good or both bad, or in the wrong order, are reported")
    func ends() throws {
        let ids = try history(4)
        let good = try bisect("--good", "oldest", "--", "true")
        #expect(good.status == 1 && good.errorText.contains("is good as well"), "\(good.errorText)")
        let bad = try bisect("--good", "oldest", "--", "false")
        #expect(bad.status == 1 && bad.errorText.contains("is bad as well"), "\(bad.errorText)")
        let never = try bisect("--find-good", "--", "false")
        #expect(never.status == 1 && never.errorText.contains("no good state was found"), "\(never.errorText)")
        let turned = try bisect("--good", ids[2], "--bad", ids[0], "--", "true")
        #expect(turned.status == 64 && turned.errorText.contains("must come before"), "\(turned.errorText)")
        #expect(try bisect("--", "true").status == 64)
        #expect(try bisect("--good", "oldest").status == 64)
        let inside = try work.run(
            ["bisect", "--good", "oldest", "--", "true"].map { Array($0.utf8) }, in: work.root,
            environment: ["TMPDIR": work.root.string])
        #expect(inside.status != 0 && inside.errorText.contains("set TMPDIR"), "\(inside.errorText)")
        #expect(try leftovers().isEmpty)
    }

    @Test("a missing command is status 127, a killed one 128 plus the signal; no temporary files are left")
    func statuses() throws {
        _ = try history(3)
        let missing = try bisect("--good", "oldest", "--", "no-such-command")
        #expect(missing.status == 127 && missing.errorText.contains("no-such-command"), "\(missing.errorText)")
        let killed = try bisect("--good", "oldest", "--", "sh", "-c", "kill -9 $$")
        #expect(killed.status == 128 + SIGKILL && killed.errorText.contains("signal 9"), "\(killed.errorText)")
        #expect(try bisect("--good", "oldest", "--", "sh", "-c", "exit 127").status == 127)
        #expect(try bisect("--good", "oldest", "--", "./number").status == 126)
        #expect(try leftovers().isEmpty)
    }

    @Test("states that cannot be tested are skipped; if they hide the first bad one, all suspects are named")
    func skipped() throws {
        let ids = try history(9)
        let some = try bisect(
            "--good", "oldest", "--", "sh", "-c", "n=$(cat number); test $n -eq 4 && exit 125; test $n -lt 6")
        #expect(some.status == 0 && some.text.hasPrefix(ids[6].prefix(8)), "\(some.text)\(some.errorText)")
        let hidden = try bisect(
            "--good", "oldest", "--", "sh", "-c",
            "n=$(cat number); test $n -ge 4 -a $n -le 5 && exit 125; test $n -lt 6")
        #expect(hidden.status == 1)
        #expect(
            hidden.lines.map { String($0.prefix(8)) } == ids[4...6].map { String($0.prefix(8)) }, "\(hidden.errorText)")
    }

    @Test("a damaged snapshot in the middle is skipped and reported")
    func damaged() throws {
        var random = SeededGenerator("a damaged snapshot in the middle is skipped and reported")
        let noise = (0..<5).map { _ in (0..<40_000).map { _ in UInt8.random(in: 0...255, using: &random) } }
        let ids = try history(5) { try work.write("noise", noise[$0]) }
        try damage(noise[2])
        let outcome = try bisect("--good", "oldest", "--", "sh", "-c", "test $(cat number) -lt 3")
        #expect(outcome.errorText.contains("skipped \(ids[2].prefix(8))"), "\(outcome.errorText)")
        #expect(outcome.status == 1)
        #expect(outcome.lines.map { String($0.prefix(8)) } == [ids[2], ids[3]].map { String($0.prefix(8)) })
        let later = try bisect("--good", "oldest", "--", "sh", "-c", "test $(cat number) -lt 4")
        #expect(later.status == 0 && later.text.hasPrefix(ids[4].prefix(8)), "\(later.text)\(later.errorText)")
    }

    /// Changes one byte of `content`, which is stored uncompressed.
    private func damage(_ content: [UInt8]) throws {
        let files = try ChildProcess.run(
            "find", [work.archive.string, "-name", "*.segment"].map { Array($0.utf8) }
        ).lines
        let pattern = Data(content[100..<140])
        for file in files {
            let handle = try FileHandle(forUpdating: URL(filePath: file))
            let bytes = try handle.readToEnd() ?? Data()
            guard let place = bytes.range(of: pattern) else { continue }
            try handle.seek(toOffset: UInt64(place.lowerBound))
            try handle.write(contentsOf: Data([bytes[place.lowerBound] ^ 1]))
            try handle.close()
            return
        }
        Issue.record("the content is not found in the archive")
    }

    @Test("a signal ends the search and the command, and no temporary files are left", arguments: [SIGINT, SIGTERM])
    func interrupted(signal: CInt) throws {
        _ = try history(3)
        let fifo = work.path("fifo").string
        mkfifo(fifo, 0o600)
        let words = [
            "bisect", "--root", work.root.string, "--good", "oldest", "--", "sh", "-c",
            "echo > \(fifo); exec sleep 600",
        ]
        let bisect = try work.start(words, environment: ["TMPDIR": scratch.string])
        _ = try ChildProcess.run("cat", [fifo].map { Array($0.utf8) })
        bisect.send(signal)
        #expect(try bisect.finish().status == 130)
        #expect(try leftovers().isEmpty)
    }

    @Test("only snapshots that changed the path are tested")
    func path() throws {
        let ids = try history(12) { number in if number % 4 == 1 { try work.write("notes/todo.txt", "\(number)\n") } }
        let outcome = try bisect(
            "--good", "oldest", "--path", "notes", "--json", "--", "sh", "-c", "test $(cat number) -lt 4")
        let found = try JSON.object(outcome.output)
        #expect((found["firstBad"] as? [String: Any])?["id"] as? String == ids[5], "\(outcome.errorText)")
        let none = try bisect("--good", "oldest", "--path", "nots", "--", "true")
        #expect(none.status == 1 && none.errorText.contains("did you mean notes?"), "\(none.errorText)")
    }
}
