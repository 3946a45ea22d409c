// Bad input: one line with the cause and the remedy, and the right exit code.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct BadInputTests {
    @Test("paths that are not directories are refused", arguments: ["capture", "watch"])
    func directories(command: String) throws {
        let work = try Workplace()
        expectRefusal(try work.run(command, work.path("nowhere").string), 1, naming: "nowhere")
        expectRefusal(try work.run(command, work.path("tree/empty").string), 1, naming: "tree/empty")
    }

    @Test("a directory without read permission is refused", .enabled(if: getuid() != 0))
    func permission() throws {
        let work = try Workplace()
        chmod(work.root.string, 0)
        defer { chmod(work.root.string, 0o755) }
        expectRefusal(try work.run("capture", work.root.string), 1, naming: work.root.string)
    }

    @Test("one bad directory does not prevent the capture of the others")
    func others() throws {
        let work = try Workplace()
        let outcome = try work.run("capture", work.path("nowhere").string, work.root.string)
        #expect(outcome.status == 1)
        #expect(outcome.lines.count == 1)
        #expect(try JSON.array(work.run("list", "--json").output).count == 1)
    }

    @Test(
        "commands without an archive exit with 10",
        arguments: [
            ["list"], ["show", "latest"], ["diff", "latest"], ["cat", "latest:x"], ["restore", "latest"], ["check"],
            ["repair", "--catalogue"],
        ])
    func noArchive(arguments: [String]) throws {
        let work = try Workplace()
        expectRefusal(try work.run(arguments.map { Array($0.utf8) }, in: "/"), 10, naming: work.archive.string)
    }

    @Test("a directory that is not an archive is refused and left unchanged")
    func notAnArchive() throws {
        let work = try Workplace()
        try work.copyTree(to: "copy")
        let other = work.root.string
        expectRefusal(try work.run("capture", work.path("copy").string, "--archive", other), 10, naming: other)
        expectRefusal(try work.run("list", "--archive", other), 10, naming: other)
        #expect(try work.difference(of: work.root, and: "copy") == "")
    }

    @Test("unknown and malformed selectors are refused")
    func selectors() throws {
        let work = try Workplace()
        _ = try work.capture()
        expectRefusal(try work.run("show", "0000000000000000"), 1, naming: "0000000000000000")
        expectRefusal(try work.run("show", "latest~5"), 1, naming: "latest~5")
        expectRefusal(try work.run("show", "nolabel"), 1, naming: "nolabel")
        expectRefusal(try work.run("show", "latest~x"), 64, naming: "latest~x")
        expectRefusal(try work.run("show", "@never"), 64, naming: "never")
        expectRefusal(try work.run("show", "latest:no/such"), 1, naming: "no/such")
        expectRefusal(try work.run("cat", "latest:no/such"), 1, naming: "no/such")
        expectRefusal(try work.run("diff", "latest:no/such"), 1, naming: "no/such")
        expectRefusal(try work.run("restore", "latest:no/such", "--root", work.root.string), 1, naming: "no/such")
        expectRefusal(try work.run("list", "--since", "never"), 64, naming: "never")
        expectRefusal(try work.run("list", "--root", "/nowhere"), 1, naming: "/nowhere")
    }

    @Test("an ambiguous selector lists its matches")
    func ambiguous() throws {
        let work = try Workplace()
        var ids = [try work.capture()]
        // Of 17 snapshots, two must begin with the same of 16 digits.
        for number in 1...16 {
            try work.write("new", "\(number)")
            ids.append(try work.capture())
        }
        let digits = Dictionary(grouping: ids) { $0.first.map(String.init) ?? "" }
        let (digit, same) = try #require(digits.first { $0.value.count > 1 })
        let outcome = try work.run("show", digit)
        #expect(outcome.status == 1)
        let lines = outcome.errorText.split(separator: "\n")
        #expect(lines.count == 1 + same.count)
        #expect(same.allSatisfy { outcome.errorText.contains($0.prefix(12)) })
        let error = try JSON.object(work.run("show", digit, "--json").error)["error"] as? [String: Any]
        #expect(error?["code"] as? String == "ambiguousSelector")
        #expect((error?["candidates"] as? [Any])?.count == same.count)
    }

    @Test("a target that is not empty is left unchanged")
    func target() throws {
        let work = try Workplace()
        let id = try work.capture()
        try work.copyTree(to: "copy")
        expectRefusal(try work.run("restore", id, "--target", work.path("copy").string), 1, naming: "copy")
        #expect(try work.difference(of: work.root, and: "copy") == "")
    }

    @Test("entries without content cannot be printed")
    func noContent() throws {
        let work = try Workplace()
        symlink("empty", work.path("tree/link").string)
        let id = try work.capture()
        expectRefusal(try work.run("cat", "\(id):notes"), 1, naming: "notes")
        expectRefusal(try work.run("cat", "\(id):link"), 1, naming: "link")
        expectRefusal(try work.run("cat", id), 64, naming: id)
    }

    @Test(
        "wrong command lines are usage errors",
        arguments: [
            ["bogus"], ["list", "--bogus"], ["list", "--limit", "0"], ["list", "-q", "-v"], ["cat"],
            ["show", "a", "--raw", "--entries"], ["watch", ".", "--settle", "soon"], ["capture"],
            ["watch", ".", "--settle", "3s", "--max-delay", "1s"], ["diff", "a", "--patch", "--stat"],
        ])
    func usage(arguments: [String]) throws {
        let work = try Workplace()
        expectRefusal(try work.run(arguments.map { Array($0.utf8) }, in: "/"), 64, naming: "--help")
    }

    @Test("with --json, errors are JSON")
    func json() throws {
        let work = try Workplace()
        let outcome = try work.run("list", "--json")
        #expect(outcome.status == 10)
        let error = try #require(JSON.object(outcome.error)["error"] as? [String: Any])
        #expect(error["code"] as? String == "noArchive")
        #expect(error["path"] as? String == work.archive.string)
        #expect(error["message"] is String)
        #expect(error["remedy"] is String)
        let usage = try JSON.object(work.run("list", "--json", "--bogus").error)["error"] as? [String: Any]
        #expect(usage?["code"] as? String == "usage")
    }

    @Test("an archive of a newer format is refused and left unchanged")
    func newerFormat() throws {
        let work = try Workplace()
        _ = try work.capture()
        let manifest = work.archive.appending("archive.json")
        let text = try String(contentsOfFile: manifest.string, encoding: .utf8)
        let newer = text.replacing(/"version" ?: ?\d+/, with: "\"version\":99")
        #expect(newer != text)
        try newer.write(toFile: manifest.string, atomically: false, encoding: .utf8)
        expectRefusal(try work.run("list"), 1, naming: work.archive.string)
        expectRefusal(try work.run("capture", work.root.string), 1, naming: work.archive.string)
        #expect(try String(contentsOfFile: manifest.string, encoding: .utf8) == newer)
    }

    @Test("the archive itself and kernel file systems cannot be captured", arguments: ["capture", "watch"])
    func unsuitable(command: String) throws {
        let work = try Workplace()
        _ = try work.capture()
        expectRefusal(try work.run(command, work.archive.string), 1, naming: work.archive.string)
        let segments = work.archive.appending("segments").string
        expectRefusal(try work.run(command, segments), 1, naming: segments)
        expectRefusal(try work.run(command, "/proc/self"), 1, naming: "/proc/self")
        #expect(try work.listed().count == 1)
    }

    @Test(
        "labels that no selector can name are refused",
        arguments: ["latest", "@home", "a:b", "latest~2", "", "a\nb"])
    func labels(label: String) throws {
        let work = try Workplace()
        expectRefusal(try work.run("capture", work.root.string, "--label", label), 64, naming: "label")
        #expect(try work.run("list").status == 10)
    }

    @Test("help on an unknown command is refused")
    func noTopic() throws {
        let work = try Workplace()
        expectRefusal(try work.run("help", "bogus"), 64, naming: "bogus")
    }

    @Test("without a command, help is printed")
    func noCommand() throws {
        let work = try Workplace()
        let plain = try work.run([])
        #expect(plain.status == 0)
        #expect(plain.text == (try work.run("--help").text))
        #expect(try work.run("help", "restore").text == (try work.run("restore", "--help").text))
    }

    @Test("files that cannot be read are named, and the exit code is 3", .enabled(if: getuid() != 0))
    func unreadable() throws {
        let work = try Workplace()
        chmod(work.path("tree/empty").string, 0)
        let outcome = try work.run("capture", work.root.string)
        #expect(outcome.status == 3)
        #expect(outcome.errorText.contains("empty"))
        #expect(try JSON.array(work.run("list", "--json").output).count == 1)
    }

    @Test("a write error on stdout is an error", .enabled(if: access("/dev/full", W_OK) == 0))
    func fullOutput() throws {
        let work = try Workplace()
        _ = try work.capture()
        let outcome = try ChildProcess.run(
            "sh", ["-c", "exec \"$0\" list > /dev/full", Workplace.program.string].map { Array($0.utf8) },
            environment: ["ARCHIVER_ARCHIVE": work.archive.string])
        expectRefusal(outcome, 1, naming: "stdout")
    }

    @Test(
        "the help of each command has an abstract and examples",
        arguments: [
            "watch", "capture", "list", "show", "diff", "cat", "restore", "check", "repair",
        ])
    func help(command: String) throws {
        let outcome = try ChildProcess.run(Workplace.program, [command, "--help"].map { Array($0.utf8) })
        #expect(outcome.status == 0)
        let examples = outcome.lines.filter { $0.hasPrefix("  archiver \(command)") }
        #expect((2...5).contains(examples.count))
    }
}
