// Processes that watch many roots.

import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Many roots", .blocking)
struct ManyRootsTests {
    private let work: Workplace
    private let roots: [String]

    init() throws {
        work = try Workplace()
        let work = work
        roots = (0..<60).map { work.path("roots/\($0)").string }
        for root in roots { try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true) }
        #expect(try work.run(["capture", "-q"] + roots).status == 0)
    }

    /// Starts to watch some of the roots, and waits for the first captures.
    private func watch(_ roots: ArraySlice<String>) throws -> ChildProcess {
        let watcher = try work.start(["watch"] + roots)
        for _ in roots { _ = try watcher.line { $0.contains("  watching ") && $0.contains("unchanged") } }
        return watcher
    }

    @Test("status has one line for each root that two processes watch, and all details with -v")
    func status() throws {
        let watchers = [try watch(roots[..<20]), try watch(roots[20...])]
        let outcome = try work.run("status")
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let shown = outcome.lines.filter { $0.hasPrefix("up to date  ") && $0.contains(": 1 snapshot, the latest of ") }
        #expect(shown.count == 60 && outcome.lines.count == 62, "\(outcome.text)")
        #expect(try work.run("status", "-v").lines.count > 240)
        #expect(try work.run("status", roots[0]).lines.count > 5)
        let json = try JSON.object(work.run("status", "--json").output)
        let reported = try #require(json["roots"] as? [[String: Any]])
        #expect(reported.count == 60)
        let processes = reported.compactMap { ($0["watcher"] as? [String: Any])?["process"] as? Int }
        #expect(processes.count == 60)
        #expect(processes.count { $0 == Int(watchers[0].id) } == 20)
        for watcher in watchers { watcher.send(SIGTERM) }
        for watcher in watchers { #expect(try watcher.finish().status == 0) }
    }

    @Test("the line of a root with a problem names the problem")
    func findings() throws {
        let watcher = try watch(roots[..<59])
        let outcome = try work.run("status", roots[59])
        #expect(outcome.status == 1)
        watcher.send(SIGTERM)
        #expect(try watcher.finish().status == 0)
        let all = try work.run("status")
        #expect(all.status == 1)
        let lines = all.lines.filter { $0.hasPrefix("! not watched  \(roots[0]): it is not being watched — ") }
        #expect(lines.count == 1 && all.lines.count == 62, "\(all.text)")
    }

    @Test("status waits once for a process that does not answer, not once for each of its roots")
    func silence() throws {
        let watcher = try watch(roots[...])
        watcher.send(SIGSTOP)
        let start = ContinuousClock.now
        let outcome = try work.run("status", "--patience", "1s")
        #expect(ContinuousClock.now - start < .seconds(30))
        #expect(outcome.status == 1)
        #expect(outcome.lines.count { $0.hasPrefix("! no answer  ") } == 60, "\(outcome.text)")
        watcher.send(SIGCONT)
        watcher.send(SIGTERM)
        #expect(try watcher.finish().status == 0)
    }

    @Test("a process has no thread per root, and its answer includes all changes before the question")
    func threads() throws {
        let watcher = try watch(roots[...])
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(watcher.id)/task").count
        #expect(threads < 40, "\(threads) threads for 60 roots")
        for root in roots { try Data("new".utf8).write(to: URL(filePath: root + "/file")) }
        // On a busy machine the captures may take longer than an answer waits, which it then says.
        var status = try work.run("status")
        for _ in 0..<20 where status.status != 0 { status = try work.run("status") }
        #expect(status.status == 0, "\(status.text)")
        let roots = try JSON.array(work.run("roots", "--json").output)
        #expect(roots.count == 60 && roots.allSatisfy { $0["snapshots"] as? Int == 2 })
        watcher.send(SIGTERM)
        #expect(try watcher.finish().status == 0)
    }
}
