// How a root is watched is remembered, shown and changed.

import Foundation
import Glibc
import SystemPackage
import TestTraits
import Testing

@Suite("Settings of roots", .blocking)
struct RootSettingsTests {
    private let work: Workplace

    init() throws { work = try Workplace() }

    private func settings() throws -> [String: Double] {
        let root = try #require(JSON.array(work.run("roots", "--json").output).first)
        return try #require(root["settings"] as? [String: Double])
    }

    /// Watches until the first capture is done.
    private func watchOnce(_ options: String...) throws -> ChildProcess.Outcome {
        let watcher = try work.start(["watch", work.root.string] + options)
        _ = try watcher.line { $0.contains("  watching \(work.root)") && !$0.contains("first capture") }
        watcher.send(SIGTERM)
        return try watcher.finish()
    }

    @Test("what a watcher is told is remembered, and its next start says so")
    func remembered() throws {
        let first = try watchOnce("--settle", "5s", "--max-delay", "1m")
        #expect(first.status == 0 && !first.errorText.contains("as before"), "\(first.errorText)")
        #expect(try settings() == ["settleSeconds": 5, "maxDelaySeconds": 60, "auditSeconds": 3600])
        let second = try watchOnce("--audit-interval", "0s")
        #expect(second.errorText.contains("as before, settle 5s, max delay 1m; 'archiver roots set' changes that"))
        #expect(try settings() == ["settleSeconds": 5, "maxDelaySeconds": 60, "auditSeconds": 0])
        let listed = try work.run("roots").text
        #expect(listed.contains("\tsettle 5s, max delay 1m, no audits"), "\(listed)")
        // A setting that does not fit the remembered ones changes nothing.
        let refused = try work.run("watch", work.root.string, "--settle", "2m")
        #expect(refused.status == 64 && refused.errorText.contains("--max-delay"), "\(refused.errorText)")
        #expect(try settings()["settleSeconds"] == 5)
    }

    @Test("a remembered settle time is the one that is watched with")
    func used() throws {
        #expect(try work.run("capture", work.root.string).status == 0)
        #expect(try work.run("roots", "set", work.root.string, "--settle", "1h", "--max-delay", "1h").status == 0)
        let watcher = try work.start("watch", work.root.string, "--json")
        _ = try watcher.line { $0.contains("\"event\":\"watching\"") }
        try work.write("empty", "changed")
        // Only a question, or the end, captures what would settle for an hour.
        #expect(try work.listed().count == 1)
        #expect(try work.run("status").status == 0)
        #expect(try work.listed().count == 2)
        watcher.send(SIGTERM)
        #expect(try watcher.finish().status == 0)
    }

    @Test("roots set changes what it names, and no more; --usual ends it")
    func set() throws {
        #expect(try work.run("capture", work.root.string).status == 0)
        let empty = try work.run("roots", "set", work.root.string)
        #expect(empty.status == 64 && empty.errorText.contains("nothing is to be set"))
        let set = try work.run("roots", "set", work.root.string, "--settle", "1500ms")
        #expect(set.status == 0 && set.errorText.contains("settle 1500ms"), "\(set.errorText)")
        #expect(try work.run("roots", "set", work.root.string, "--max-delay", "30s").status == 0)
        #expect(try settings() == ["settleSeconds": 1.5, "maxDelaySeconds": 30, "auditSeconds": 3600])
        #expect(try work.run("roots", "set", work.root.string, "--settle", "31s").status == 64)
        let usual = try work.run("roots", "set", work.root.string, "--usual")
        #expect(usual.errorText.contains("changes are gathered as usual"))
        #expect(try settings() == ["settleSeconds": 0.1, "maxDelaySeconds": 2, "auditSeconds": 3600])
        #expect(try work.run("roots", "set", "/nowhere", "--settle", "1s").status != 0)
    }

    @Test("roots set changes what is left out, but not while the root is watched")
    func rules() throws {
        #expect(try work.run("capture", work.root.string).status == 0)
        let set = try work.run("roots", "set", work.root.string, "--exclude", "notes/")
        #expect(set.status == 0 && set.errorText.contains("left out: notes/"), "\(set.errorText)")
        #expect(try work.run("show", "--entries", "latest").text.contains("todo.txt") == false)
        let watcher = try work.start("watch", work.root.string, "--json")
        _ = try watcher.line { $0.contains("\"event\":\"watching\"") }
        let refused = try work.run("roots", "set", work.root.string, "--reset-exclusions")
        #expect(refused.status == 11 && refused.errorText.contains("is being watched"))
        let later = try work.run("roots", "set", work.root.string, "--settle", "1s")
        #expect(later.status == 0 && later.errorText.contains("start it anew"), "\(later.errorText)")
        watcher.send(SIGTERM)
        #expect(try watcher.finish().status == 0)
    }

    @Test("settings move with their root, and a file that is damaged is as none")
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

    @Test("the lines of watch say when")
    func times() throws {
        let outcome = try watchOnce()
        let time = #/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  (watching|stopped watching) /#
        let lines = outcome.lines.filter { $0.contains("watching") }
        #expect(lines.count == 3 && lines.allSatisfy { $0.firstMatch(of: time) != nil }, "\(outcome.text)")
    }
}
