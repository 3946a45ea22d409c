// `archiver watch` from its first line to its end.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct WatchTests {
    @Test("a change is announced when its snapshot is durable; SIGTERM makes a last capture and ends cleanly")
    func watch() throws {
        let work = try Workplace()
        let process = try work.start("watch", work.root.string, "--json", "--settle", "10ms")
        let first = try event("snapshot", process)
        let watching = try event("watching", process)
        #expect(watching["root"] as? String == work.root.string)
        #expect(watching["directories"] as? Int == 2)
        #expect(watching["latest"] as? String == first["id"] as? String)

        try work.write("new", "new\n")
        let second = try event("snapshot", process)
        #expect(second["parent"] as? String == first["id"] as? String)
        #expect(second["added"] as? Int == 1)
        let id = try #require(second["id"] as? String)
        #expect(try work.run("cat", "\(id):new").text == "new\n")

        try work.write("last", "last\n")
        process.send(SIGTERM)
        _ = try event("stopped", process)
        let outcome = try process.finish()
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(try work.run("cat", "latest:last").text == "last\n")

        let listed = try JSON.array(work.run("list", "--json").output)
        let announced = try outcome.lines.map { try JSON.object($0) }.filter { $0["event"] as? String == "snapshot" }
        #expect(announced.map { $0["id"] as? String } == listed.map { $0["id"] as? String })
        for (event, row) in zip(announced, listed) {
            #expect(Set(event.keys) == Set(row.keys).union(["event"]))
        }
    }

    @Test("SIGINT ends the watch like SIGTERM, and lines are readable without --json")
    func interrupt() throws {
        let work = try Workplace()
        let process = try work.start("watch", work.root.string)
        let first = try process.line { _ in true }
        #expect(first.hasSuffix("  watching \(work.root.string): first capture…"), "\(first)")
        _ = try process.line { $0.contains("  watching \(work.root.string): 3 files in 2 directories") }
        process.send(SIGINT)
        let outcome = try process.finish()
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(outcome.lines.last?.hasSuffix("  stopped watching \(work.root.string)") == true)
        let again = try work.start("watch", work.root.string)
        let words = "  watching \(work.root.string): comparing with the latest snapshot…"
        #expect(try again.line { _ in true }.hasSuffix(words), "it has snapshots")
        again.send(SIGINT)
        _ = try again.finish()
    }

    @Test("a second SIGINT ends the watch immediately")
    func impatience() throws {
        let work = try Workplace()
        // Reading all of /usr takes far longer than two signals.
        let process = try ChildProcess(
            "sh", ["-c", "exec \"$0\" watch /usr 2>&1", Workplace.program.string].map { Array($0.utf8) },
            environment: ["ARCHIVER_ARCHIVE": work.archive.string], directory: "/")
        _ = try process.line { $0.contains("  watching /usr") }
        process.send(SIGINT)
        _ = try process.line { $0.contains("interrupt again") }
        process.send(SIGINT)
        #expect(try process.finish().status == 130)
    }

    @Test("a second watch of the same root is refused, and the first is named")
    func locked() throws {
        let work = try Workplace()
        let process = try work.start("watch", work.root.string, "--json")
        _ = try event("watching", process)
        let refused = try work.run("watch", work.root.string)
        #expect(refused.status == 11, "\(refused.errorText)")
        #expect(refused.errorText.contains("\(process.id)"))
        process.send(SIGTERM)
        #expect(try process.finish().status == 0)
    }

    private func event(_ name: String, _ process: ChildProcess) throws -> [String: Any] {
        try JSON.object(process.line { $0.contains("\"event\":\"\(name)\"") })
    }
}
