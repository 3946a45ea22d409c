// `archiver service` and `archiver reload`: several roots, changes of the file, and the service manager's socket.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct ServiceTests {
    private let work: Workplace
    private var file: FilePath { work.path(".config/archiver/config.toml") }

    init() throws { work = try Workplace() }

    private func root(_ path: FilePath, _ lines: String...) -> String {
        (["[[root]]", "path = \"\(path)\"", "settle = \"10ms\""] + lines).joined(separator: "\n") + "\n"
    }

    private func other() throws -> FilePath {
        try work.write("../other/file", "x")
        return work.path("other")
    }

    private func event(_ name: String, of root: FilePath? = nil, _ process: ChildProcess) throws {
        _ = try process.line { line in
            let object = try? JSON.object(line)
            return object?["event"] as? String == name && (root == nil || object?["root"] as? String == root?.string)
        }
    }

    @Test("all roots are watched by one process; added ones begin, removed ones end after their last capture")
    func reload() throws {
        let other = try other()
        try work.configure(root(work.root))
        let process = try work.start("service", "--json")
        try event("watching", of: work.root, process)
        try work.configure(root(work.root) + root(other))
        let added = try work.run("reload")
        #expect(added.status == 0 && added.errorText.contains("1 root added"), "\(added.errorText)")
        try event("watching", of: other, process)
        try work.write("last", "x")
        try work.configure(root(other, "exclude = [\"*.o\"]"))
        let changed = try work.run("reload")
        #expect(changed.errorText.contains("1 root removed, 1 root changed"), "\(changed.errorText)")
        #expect(try work.run("cat", "--root", work.root.string, "latest:last").text == "x")
        try work.write("../other/file.o", "x")
        try work.write("../other/new", "x")
        #expect(try work.run("sync", other.string).status == 0)
        #expect(try work.run("cat", "--root", other.string, "latest:new").text == "x")
        #expect(try work.run("cat", "--root", other.string, "latest:file.o").status == 1)
        process.send(SIGTERM)
        #expect(try process.finish().status == 0)
    }

    @Test("a file that becomes nonsense is refused by line, and the service goes on with what it had")
    func nonsense() throws {
        try work.configure(root(work.root))
        let process = try work.start("service", "--json")
        try event("watching", process)
        try work.configure(root(work.root) + "nonsense\n")
        expectRefusal(try work.run("reload"), 64, naming: "\(file):4: this is not TOML")
        process.send(SIGHUP)
        try work.write("after", "x")
        try event("snapshot", process)
        // The TOML library aborts on this text: in a process of its own.
        try work.configure(root(work.root, "exclude = [\"a\",}"))
        process.send(SIGHUP)
        try work.write("later", "x")
        try event("snapshot", process)
        #expect(try work.run("sync", work.root.string).status == 0)
        process.send(SIGTERM)
        let outcome = try process.finish()
        #expect(outcome.status == 0)
        #expect(outcome.errorText.contains("the service goes on with what it had"), "\(outcome.errorText)")
    }

    @Test("a second service of the same file is refused, and the first is named")
    func twoServices() throws {
        try work.configure(root(work.root))
        let process = try work.start("service", "--json")
        try event("watching", process)
        expectRefusal(try work.run("service"), 11, naming: "process \(process.id)")
        process.send(SIGTERM)
        #expect(try process.finish().status == 0)
        expectRefusal(try work.run("reload"), 1, naming: "no service runs")
    }

    @Test("it is ready only once everything is watched, feeds the watchdog, and says that it reloads and stops")
    func notify() throws {
        let receiver = try DatagramReceiver(work.path("notify").string)
        try work.configure(root(work.root))
        let block = try { () throws -> FileLock in
            _ = try work.capture()
            try work.write("new", "x")
            return try work.blockCaptures()
        }()
        let process = try work.start(
            ["service", "--json"],
            environment: ["NOTIFY_SOCKET": work.path("notify").string, "WATCHDOG_USEC": "60000000"])
        try event("starting", process)
        // While the first capture waits, the start is extended.
        let before = try receiver.upTo { $0.hasPrefix("EXTEND_TIMEOUT_USEC=") }
        #expect(!before.contains("READY=1"))
        #expect(before.contains("WATCHDOG=1"))
        release(block)
        try event("watching", process)
        let start = try receiver.upTo { $0 == "READY=1" }
        #expect(start.contains { $0.hasPrefix("STATUS=1 root watched") })
        #expect(try work.run("reload").status == 0)
        let reload = try receiver.upTo { $0 == "READY=1" }.filter { $0 != "WATCHDOG=1" }
        #expect(reload.first?.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") == true, "\(reload)")
        process.send(SIGTERM)
        _ = try receiver.upTo { $0 == "STOPPING=1" }
        #expect(try process.finish().status == 0)
    }

    private func release(_ lock: consuming FileLock) {}

    @Test("a missing root does not delay the others")
    func missingRoot() throws {
        try work.configure(root(work.root) + root(work.path("none")))
        let process = try work.start("service", "--json")
        try event("watching", process)
        try work.write("new", "x")
        try event("snapshot", process)
        process.send(SIGTERM)
        #expect(try process.finish().status == 0)
    }

    @Test("an archive whose disk is not mounted is waited for, and none is created in its place")
    func missingArchive() throws {
        try work.configure(root(work.root))
        _ = try work.capture()
        try FileManager.default.moveItem(atPath: work.archive.string, toPath: work.path("away").string)
        let receiver = try DatagramReceiver(work.path("notify").string)
        let process = try work.start(
            ["service", "--json", "--time-scale", "100"], environment: ["NOTIFY_SOCKET": work.path("notify").string])
        _ = try receiver.upTo { $0.hasPrefix("STATUS=waiting for the archive") }
        #expect(access(work.archive.string, F_OK) != 0)
        try FileManager.default.moveItem(atPath: work.path("away").string, toPath: work.archive.string)
        _ = try receiver.upTo { $0 == "READY=1" }
        process.send(SIGTERM)
        #expect(try process.finish().status == 0)
    }

    @Test("what the file says of a root replaces what the archive remembered of it")
    func settings() throws {
        _ = try work.capture()
        #expect(try work.run("roots", "set", work.root.string, "--settle", "7s", "--max-delay", "8s").status == 0)
        try work.configure(root(work.root, "[root.keep]", "policy = \"usual\""))
        let process = try work.start("service", "--json")
        try event("watching", process)
        let rows = try JSON.array(work.run("roots", "--json").output)
        let settings = try #require(rows.first?["settings"] as? [String: Any])
        #expect(settings["settleSeconds"] as? Double == 0.01)
        #expect(settings["maxDelaySeconds"] as? Double == 2)
        #expect(try work.run("keep").text.contains("\(work.root): all for 1h"))
        process.send(SIGTERM)
        #expect(try process.finish().status == 0)
    }
}
