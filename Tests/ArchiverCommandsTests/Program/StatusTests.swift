// `archiver status`, `audit`, `doctor` and the gaps in `list`, as programs and people see them.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct StatusTests {
    @Test("with --max-lag the exit code is 3 for a root that is not proven current, and names it")
    func lag() throws {
        let work = try Workplace()
        let process = try work.start("watch", work.root.string, "--json", "--settle", "60s", "--max-delay", "60s")
        _ = try process.line { $0.contains("\"event\":\"watching\"") }
        try work.write("new", "new\n")
        #expect(try work.run("status", "--max-lag", "0s").status == 0, "the question hastened the capture")
        process.send(SIGSTOP)
        // The watcher does not answer; its latest capture is seconds old.
        let fresh = try work.run("status", "--max-lag", "1h", "--patience", "100ms")
        #expect(fresh.status == 1)
        process.send(SIGKILL)
        _ = try process.finish()
        let faketime: FilePath = "/usr/bin/faketime"
        guard access(faketime.string, X_OK) == 0 else { return }
        let words = ["-f", "+1000d", Workplace.program.string, "status", "--max-lag", "1h"]
        let stale = try ChildProcess.run(
            faketime, words.map { Array($0.utf8) },
            environment: ["ARCHIVER_ARCHIVE": work.archive.string, "HOME": work.path("").string])
        #expect(stale.status == 3)
        #expect(stale.errorText.contains("archiver: \(work.root.string) was last proven current"), "\(stale.errorText)")
    }

    @Test("status proves that the watcher is alive; without a watcher it reports that and a remedy")
    func status() throws {
        let work = try Workplace()
        let process = try work.start("watch", work.root.string, "--json", "--settle", "60s", "--max-delay", "60s")
        _ = try process.line { $0.contains("\"event\":\"watching\"") }
        try work.write("new", "new\n")
        let json = try work.run("status", "--json")
        #expect(json.status == 0, "\(json.errorText)")
        let status = try JSON.object(json.output)
        #expect(status["well"] as? Bool == true)
        let root = try #require((status["roots"] as? [[String: Any]])?.first)
        #expect(root["root"] as? String == work.root.string)
        #expect(root["snapshots"] as? Int == 2, "the question hastened the capture")
        let watcher = try #require(root["watcher"] as? [String: Any])
        #expect(watcher["process"] as? Int == Int(process.id))
        #expect(watcher["current"] as? Bool == true)
        #expect((watcher["directories"] as? [String: Any])?["watched"] as? Int == 2)

        let text = try work.run("status")
        #expect(text.status == 0)
        #expect(text.text.hasPrefix("up to date  \(work.root.string)\n"))

        process.send(SIGKILL)
        _ = try process.finish()
        let dead = try work.run("status")
        #expect(dead.status == 1)
        #expect(dead.text.contains("! it is not being watched — run 'archiver watch \(work.root.string)'"))
    }

    @Test("status reports a stopped watcher that does not answer")
    func silence() throws {
        let work = try Workplace()
        let process = try work.start("watch", work.root.string, "--json")
        _ = try process.line { $0.contains("\"event\":\"watching\"") }
        process.send(SIGSTOP)
        let silent = try work.run("status", "--patience", "200ms", "--json")
        #expect(silent.status == 1)
        let roots = try JSON.object(silent.output)["roots"] as? [[String: Any]]
        let findings = try #require(roots?.first?["findings"] as? [[String: Any]])
        #expect((findings.first?["message"] as? String)?.hasSuffix("does not answer") == true)
        process.send(SIGCONT)
        #expect(try work.run("status").status == 0)
        process.send(SIGTERM)
        #expect(try process.finish().status == 0)
    }

    @Test("on SIGUSR1 the watcher prints its status")
    func signal() throws {
        let work = try Workplace()
        let process = try ChildProcess(
            "sh",
            ["-c", "exec \"$0\" watch \"$1\" 2>&1", Workplace.program.string, work.root.string].map { Array($0.utf8) },
            environment: ["ARCHIVER_ARCHIVE": work.archive.string], directory: "/")
        _ = try process.line { $0.contains(" files in ") }
        process.send(SIGUSR1)
        _ = try process.line { $0 == "up to date  \(work.root.string)" }
        process.send(SIGTERM)
        #expect(try process.finish().status == 0)
    }

    @Test("audit finds changes through a hard link from outside; without a watcher it reports that")
    func audit() throws {
        let work = try Workplace()
        try work.write("../outside", "before\n")
        #expect(link(work.path("outside").string, work.path("tree/inside").string) == 0)
        let process = try work.start("watch", work.root.string, "--json")
        _ = try process.line { $0.contains("\"event\":\"watching\"") }
        try work.write("../outside", "after\n")
        let outcome = try work.run("audit", work.root.string, "--json")
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(try JSON.array(outcome.output).first?["found"] as? Int == 1)
        #expect(try work.run("cat", "latest:inside").text == "after\n")
        process.send(SIGTERM)
        #expect(try process.finish().status == 0)
        let refused = try work.run("audit", work.root.string)
        #expect(refused.status == 1)
        #expect(refused.errorText.contains("is not being watched"))
    }

    @Test("list shows a gap without a watcher between the snapshots before and after it")
    func gaps() throws {
        let work = try Workplace()
        for text in ["one\n", "two\n"] {
            try work.write("new", text)
            let process = try work.start("watch", work.root.string, "--json")
            _ = try process.line { $0.contains("\"event\":\"watching\"") }
            process.send(SIGTERM)
            #expect(try process.finish().status == 0)
        }
        let lines = try work.run("list", "--root", work.root.string).lines
        #expect(lines.count == 3)
        #expect(lines[1].hasPrefix("# gap\t"))
        #expect(lines[1].hasSuffix("\t\(work.root.string)\tdowntime"))
        let reversed = try work.run("list", "--root", work.root.string, "--reverse").lines
        #expect(reversed == lines.reversed())
        let json = try JSON.array(work.run("list", "--root", work.root.string, "--json").output)
        #expect(json.map { ($0["gapsBefore"] as? [[String: Any]])?.count } == [0, 1])
        #expect((json[1]["gapsBefore"] as? [[String: Any]])?.first?["cause"] as? String == "downtime")
    }

    @Test("doctor finds nothing bad in an ordinary directory, and names the problem of another")
    func doctor() throws {
        let work = try Workplace()
        let good = try work.run("doctor", work.root.string, "--json")
        #expect(good.status == 0, "\(good.text)")
        let findings = try JSON.array(good.output)
        #expect(findings.contains { $0["topic"] as? String == "size" && $0["verdict"] as? String == "good" })
        let bad = try work.run("doctor", "/proc")
        #expect(bad.status == 1)
        #expect(bad.text.contains("is on a virtual file system"))
        #expect(try work.run("doctor", work.path("nowhere").string).status == 1)
    }

    @Test("exclusion options apply: patterns, pattern files and sizes")
    func exclusions() throws {
        let work = try Workplace()
        try work.write("a.o", "object\n")
        try work.write("b.log", "log\n")
        try work.write("../patterns", "# a list\n*.log\n\n")
        let captured = try work.run(
            "capture", work.root.string, "--exclude", "*.o", "--exclude-from", work.path("patterns").string,
            "--exclude-larger-than", "10K", "--json")
        #expect(captured.status == 0, "\(captured.errorText)")
        let listed = try work.run("show", "latest", "--entries", "--json")
        for name in ["a.o", "b.log", "data.bin"] { #expect(!listed.text.contains("\"\(name)\"")) }
        #expect(listed.text.contains("\"empty\""))
        #expect(try work.run("capture", work.root.string, "--exclude-larger-than", "ten").status == 64)
        let unknown = try work.run("capture", work.root.string, "--exclude-from", "/nowhere")
        #expect(unknown.status == 1)
        #expect(unknown.errorText.contains("/nowhere"))
    }
}
