// A root's settings are remembered, shown and changed.

import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Settings of roots", .blocking)
struct RootSettingsTests {
    private let work: Workplace

    init() throws { work = try Workplace() }

    private func settings(largeFile: Double = 512 * 1_048_576) throws -> [String: Double] {
        let root = try #require(JSON.array(work.run("roots", "--json").output).first)
        var settings = try #require(root["settings"] as? [String: Double])
        // The defaults.
        let large = (
            settings.removeValue(forKey: "largeFileBytes"), settings.removeValue(forKey: "largeFileDelaySeconds")
        )
        #expect(large == (largeFile, 300))
        return settings
    }

    /// Watches and waits for the first capture.
    private func watchOnce(_ options: String...) throws -> ChildProcess.Outcome {
        let watcher = try work.start(["watch", work.root.string] + options)
        _ = try watcher.line { $0.contains("  watching \(work.root)") && !$0.contains("first capture") }
        watcher.send(SIGTERM)
        return try watcher.finish()
    }

    @Test("a watcher's settings are remembered, and its next start reports them")
    func remembered() throws {
        let first = try watchOnce("--settle", "5s", "--max-delay", "1m")
        #expect(first.status == 0 && !first.errorText.contains("as before"), "\(first.errorText)")
        #expect(try settings() == ["settleSeconds": 5, "maxDelaySeconds": 60, "auditSeconds": 3600])
        let second = try watchOnce("--audit-interval", "0s")
        #expect(second.errorText.contains("as before, settle 5s, max delay 1m; 'archiver roots set' changes this"))
        #expect(try settings() == ["settleSeconds": 5, "maxDelaySeconds": 60, "auditSeconds": 0])
        let listed = try work.run("roots").text
        #expect(listed.contains("\tsettle 5s, max delay 1m, no audits"), "\(listed)")
        // A setting that contradicts the remembered ones changes nothing.
        let refused = try work.run("watch", work.root.string, "--settle", "2m")
        #expect(refused.status == 64 && refused.errorText.contains("--max-delay"), "\(refused.errorText)")
        #expect(
            refused.errorText.contains(
                "would have to be quiet for 120 seconds, but a capture may wait no longer than 60 "),
            "\(refused.errorText)")
        #expect(try settings()["settleSeconds"] == 5)
    }

    @Test("a remembered settle time is used")
    func used() throws {
        #expect(try work.run("capture", work.root.string).status == 0)
        #expect(try work.run("roots", "set", work.root.string, "--settle", "1h", "--max-delay", "1h").status == 0)
        let watcher = try work.start("watch", work.root.string, "--json")
        _ = try watcher.line { $0.contains("\"event\":\"watching\"") }
        try work.write("empty", "changed")
        // With a settle time of an hour, only a request or the end causes a capture.
        #expect(try work.listed().count == 1)
        #expect(try work.run("status").status == 0)
        #expect(try work.listed().count == 2)
        watcher.send(SIGTERM)
        #expect(try watcher.finish().status == 0)
    }

    @Test("roots set changes only the named settings; --usual resets them")
    func set() throws {
        #expect(try work.run("capture", work.root.string).status == 0)
        let empty = try work.run("roots", "set", work.root.string)
        #expect(empty.status == 64 && empty.errorText.contains("no setting is given"))
        let set = try work.run("roots", "set", work.root.string, "--settle", "1500ms")
        #expect(set.status == 0 && set.errorText.contains("settle 1500ms"), "\(set.errorText)")
        #expect(try work.run("roots", "set", work.root.string, "--max-delay", "30s").status == 0)
        #expect(try settings() == ["settleSeconds": 1.5, "maxDelaySeconds": 30, "auditSeconds": 3600])
        #expect(try work.run("roots", "set", work.root.string, "--settle", "31s").status == 64)
        let usual = try work.run("roots", "set", work.root.string, "--reset")
        #expect(usual.errorText.contains("default timing"))
        #expect(try settings() == ["settleSeconds": 0.1, "maxDelaySeconds": 2, "auditSeconds": 3600])
        #expect(try work.run("roots", "set", "/nowhere", "--settle", "1s").status != 0)
    }

    /// Paths in the latest snapshot.
    private func entries() throws -> Set<String> {
        let entries = try JSON.array(
            work.run("show", "--entries", "latest", "--root", work.root.string, "--json").output)
        return Set(entries.compactMap { $0["path"] as? String })
    }

    @Test("roots set changes the exclusions of a root without a watcher")
    func rules() throws {
        #expect(try work.run("capture", work.root.string).status == 0)
        let set = try work.run("roots", "set", work.root.string, "--exclude", "notes/")
        #expect(set.status == 0 && set.errorText.contains("excludes notes/"), "\(set.errorText)")
        #expect(!set.errorText.contains("watcher"), "\(set.errorText)")
        #expect(try !entries().contains("notes/todo.txt"))
    }

    @Test(
        "a running watcher applies new rules: it captures what they include and stops watching what they exclude"
    )
    func rulesWhileWatched() throws {
        let watcher = try work.start("watch", work.root.string, "--exclude", "notes/", "--json")
        _ = try watcher.line { $0.contains("\"event\":\"watching\"") }
        #expect(try !entries().contains("notes/todo.txt") && entries().contains("data.bin"))
        let set = try work.run("roots", "set", work.root.string, "--exclude", "*.bin")
        #expect(set.status == 0, "\(set.errorText)")
        #expect(set.errorText.contains("excludes *.bin") && set.errorText.contains("The running watcher now uses"))
        #expect(try entries().contains("notes/todo.txt") && !entries().contains("data.bin"))
        // The watcher keeps applying them: changes of included files are captured, changes of excluded ones are not.
        try work.write("data.bin", "changed")
        try work.write("notes/todo.txt", "three")
        _ = try watcher.line { $0.contains("\"event\":\"snapshot\"") && $0.contains("\"modified\":1") }
        #expect(try work.run("cat", "latest:notes/todo.txt", "--root", work.root.string).text == "three")
        #expect(try !entries().contains("data.bin"))
        let status = try work.run("status")
        #expect(status.status == 0, "\(status.text)")
        watcher.send(SIGTERM)
        #expect(try watcher.finish().status == 0)
        // The next watcher applies them, too.
        let next = try watchOnce()
        #expect(next.errorText.contains("as before, excludes *.bin"), "\(next.errorText)")
    }

    @Test("a running watcher applies new settings")
    func settingsWhileWatched() throws {
        let watcher = try work.start(
            "watch", work.root.string, "--settle", "1h", "--max-delay", "1h", "--large-file", "1K", "--json")
        _ = try watcher.line { $0.contains("\"event\":\"watching\"") }
        let set = try work.run(
            "roots", "set", work.root.string, "--settle", "10ms", "--max-delay", "1s", "--large-file", "0",
            "--large-file-delay", "5m")
        #expect(set.status == 0 && set.errorText.contains("The running watcher now uses"), "\(set.errorText)")
        #expect(set.errorText.contains("no large files, large file delay 5m"), "\(set.errorText)")
        // Without a request, only the settle time causes the capture.
        try work.write("empty", "changed")
        _ = try watcher.line { $0.contains("\"event\":\"snapshot\"") && $0.contains("\"modified\":1") }
        #expect(try settings(largeFile: 0) == ["settleSeconds": 0.01, "maxDelaySeconds": 1, "auditSeconds": 3600])
        watcher.send(SIGTERM)
        #expect(try watcher.finish().status == 0)
    }

    @Test("a waiting change of a large file is captured by the next watcher if the first is killed")
    func killedWhileLargeFileWaits() throws {
        let noise = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* $0 / 7 &* 31) }
        try work.write("large", noise)
        let watcher = try work.start(
            "watch", work.root.string, "--large-file", "1M", "--large-file-delay", "1h", "--json")
        _ = try watcher.line { $0.contains("\"event\":\"watching\"") }
        try work.write("large", [1] + noise)
        _ = try watcher.line { $0.contains("\"event\":\"snapshot\"") && $0.contains("\"modified\":1") }
        // It was just read, so it waits while the small file is captured.
        try work.write("large", [2, 2] + noise)
        try work.write("empty", "small")
        _ = try watcher.line { $0.contains("\"event\":\"snapshot\"") && $0.contains("\"modified\":1") }
        watcher.send(SIGKILL)
        _ = try watcher.finish()
        #expect(try work.run("cat", "latest:empty", "--root", work.root.string).text == "small")
        _ = try watchOnce()
        #expect(try work.run("cat", "latest:large", "--root", work.root.string).output == [2, 2] + noise)
        #expect(try work.run("check", "--data").status == 0)
    }

    @Test("settings move with their root, and a damaged settings file is ignored")
    func moved() throws {
        #expect(try work.run("capture", work.root.string).status == 0)
        #expect(try work.run("roots", "set", work.root.string, "--settle", "1s").status == 0)
        let new = work.path("moved")
        try FileManager.default.moveItem(atPath: work.root.string, toPath: new.string)
        #expect(try work.run("roots", "move", work.root.string, new.string).status == 0)
        #expect(try settings()["settleSeconds"] == 1)
        let folder = work.archive.appending("settings").string
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(files.count == 1)
        try Data("{".utf8).write(to: URL(filePath: "\(folder)/\(files[0])"))
        #expect(try settings()["settleSeconds"] == 0.1)
        let check = try work.run("check", "--data")
        #expect(check.status == 0, "\(check.errorText)")
    }

    @Test("the lines of watch have times")
    func times() throws {
        let outcome = try watchOnce()
        let time = #/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  (watching|stopped watching) /#
        let lines = outcome.lines.filter { $0.contains("watching") }
        #expect(lines.count == 3 && lines.allSatisfy { $0.firstMatch(of: time) != nil }, "\(outcome.text)")
    }

    @Test("an exclusion that can match nothing is understood as a path of the root, or refused")
    func pathsAsExclusions() throws {
        try work.write("build/made.o", "1")
        let whole = work.root.string
        #expect(try work.run("capture", whole, "--exclude", whole + "/build").status == 0)
        #expect(try work.run("roots").text.contains("excludes /build"))
        #expect(try work.run("show", "latest:build", "--root", whole).status == 1)
        #expect(try work.run("roots", "set", whole, "--reset-exclusions", "--exclude", "./notes/").status == 0)
        #expect(try work.run("roots").text.contains("excludes /notes/"))
        for (pattern, remedy) in [("a[b", "write 'a\\[b'"), ("../x", "relative to the directory"), (".", "'/*'")] {
            for command in ["capture", "watch"] {
                let refused = try work.run(command, whole, "--exclude", pattern)
                #expect(refused.status == 64 && refused.errorText.contains(remedy), "\(refused.errorText)")
            }
        }
        #expect(try work.run("roots").text.contains("excludes /notes/"), "nothing was remembered")
        let other = work.path("other")
        try FileManager.default.createDirectory(atPath: other.string, withIntermediateDirectories: true)
        let several = try work.run("capture", whole, other.string, "--exclude", whole + "/build")
        #expect(several.status == 64 && several.errorText.contains("one of 2 directories"), "\(several.errorText)")
    }
}
