// `archiver blame` as users run it, and compared with `git blame`.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("blame", .blocking)
struct BlameTests {
    private func blame(_ work: Workplace, _ arguments: String...) throws -> ChildProcess.Outcome {
        try work.run(["blame"] + arguments + ["--root", work.root.string])
    }

    @Test("each line has the version that introduced it, also under an older name")
    func lines() throws {
        let work = try Workplace()
        try work.write("a.txt", "one\ntwo\nthree\n")
        let first = try work.capture()
        try work.write("a.txt", "zero\none\ntwo and a half\nthree\n")
        let second = try work.capture()
        rename(work.path("tree/a.txt").string, work.path("tree/b.txt").string)
        _ = try work.capture()
        try work.write("b.txt", "zero\none\ntwo and a half\nthree\nfour")
        let last = try work.capture()

        let json = try JSON.array(blame(work, "b.txt", "--json").output)
        #expect(json.map { $0["snapshot"] as? String } == [second, first, second, first, last])
        #expect(json.map { $0["sourceLine"] as? Int } == [1, 1, 3, 3, 5])
        #expect(json.map { $0["text"] as? String } == ["zero", "one", "two and a half", "three", "four"])
        #expect(try blame(work, "b.txt", "-L", "2,3").lines.count == 2)
        let before = try JSON.array(blame(work, "\(first):a.txt", "--json").output)
        #expect(before.map { $0["snapshot"] as? String } == [first, first, first])

        expectRefusal(try blame(work, "b.txt", "-L", "9,10"), 64, naming: "b.txt")
        expectRefusal(try blame(work, "b.txt", "-L", "x"), 64, naming: "x")
        expectRefusal(try blame(work, "data.bin"), 1, naming: "data.bin")
        expectRefusal(try blame(work, "notes"), 1, naming: "notes")
        expectRefusal(try blame(work, "no/such"), 1, naming: "no/such")
        #expect(try blame(work, "empty").lines.isEmpty)
    }

    @Test("blame agrees with git blame")
    func agreesWithGit() throws {
        let work = try Workplace()
        var random = SeededGenerator("blame agrees with git blame")
        func git(_ arguments: String...) throws -> ChildProcess.Outcome {
            let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
            return try ChildProcess.run(
                "git", (["-C", work.root.string] + identity + arguments).map { Array($0.utf8) })
        }
        _ = try git("init", "-q")
        try work.write(".archiverignore", ".git\n")
        var name = "text.txt"
        var lines = (0..<30).map { "line \($0)" }
        for number in 0..<20 {
            for _ in 0...random.below(3) {
                let place = random.below(lines.count)
                switch random.below(3) {
                case 0: lines[place] = "replaced in \(number), \(random.next())"
                case 1: lines.insert("added in \(number), \(random.next())", at: place)
                default: if lines.count > 10 { lines.remove(at: place) }
                }
            }
            try work.write(name, lines.joined(separator: "\n") + "\n")
            if number == 12 {
                _ = try git("add", "-A")
                _ = try git("commit", "-q", "-m", "12a")
                #expect(try work.run("capture", work.root.string, "--label", "12a").status == 0)
                _ = try git("mv", name, "renamed.txt")
                name = "renamed.txt"
            }
            _ = try git("add", "-A")
            _ = try git("commit", "-q", "-m", "\(number)")
            #expect(try work.run("capture", work.root.string, "--label", "\(number)").status == 0)
        }
        let theirs = try git("blame", "--line-porcelain", name).lines
            .filter { $0.hasPrefix("summary ") }.map { String($0.dropFirst("summary ".count)) }
        let ours = try JSON.array(blame(work, name, "--json").output).map { $0["label"] as? String ?? "" }
        #expect(ours == theirs, "seed \(random.seed)")
        #expect(theirs.count == lines.count)
    }

    @Test("a version that is too large does not matter if no line is from it or before it")
    func tooLarge() throws {
        let work = try Workplace()
        let large = String(repeating: "a line\n", count: 2_500_000)
        for text in [large, "one\ntwo\n", "three\nfour\n", "three\nfour\nfive\nsix\n"] {
            try work.write("text", text)
            _ = try work.capture()
        }
        let blamed = try blame(work, "text")
        #expect(blamed.status == 0 && blamed.lines.count == 4, "\(blamed.errorText)")
        let followed = try work.run(["log", "-L", "3,4", "text", "--root", work.root.string])
        #expect(followed.status == 0 && followed.lines.count == 1, "\(followed.errorText)")
        expectRefusal(try blame(work, "latest~2:text"), 1, naming: "larger than 16 MiB")
    }
}
