// Roots: machines and host names, moves, retirement, exclusions.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestTraits
import Testing

@Suite("Roots, with the program", .blocking)
struct RootsTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
    }

    private func roots(_ environment: [String: String] = [:]) throws -> [[String: Any]] {
        try JSON.array(place.run("roots", "--json", environment: environment).output)
    }

    @Test(
        "after a change of the host name, the root has one history and latest is unambiguous",
        .enabled(if: geteuid() == 0))
    func hostName() throws {
        let first = try place.capture()
        try place.write("empty", "for a moment")
        #expect(try place.run("restore", first, "--root", place.root.string).status == 0)
        try place.write("empty", "no more")
        let count = try place.listed().count
        let outcome = try ChildProcess.run(
            "unshare",
            [
                "--uts", "sh", "-c",
                "hostname other-name && ARCHIVER_ARCHIVE='\(place.archive)' '\(Workplace.program)' capture '\(place.root)'",
            ].map { Array($0.utf8) })
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let roots = try roots()
        #expect(roots.count == 1)
        #expect(roots.first?["snapshots"] as? Int == count + 1 && roots.first?["host"] as? String == "other-name")
        #expect(try place.listed().count == count + 1)
        #expect(try place.run("cat", "latest:empty").output == Array("no more".utf8))
        let check = try place.run("check", "--data")
        #expect(check.status == 0, "\(check.errorText)")
    }

    @Test("--host distinguishes roots with the same path on two machines")
    func machines() throws {
        #expect(try place.run("capture", place.root.string).status == 0)
        try place.write("empty", "elsewhere")
        let other = ["ARCHIVER_MACHINE_ID": "other"]
        #expect(try place.run("capture", place.root.string, environment: other).status == 0)
        let roots = try roots()
        #expect(roots.count == 2 && roots.filter { $0["here"] as? Bool == true }.count == 1)
        let machine = try #require(roots.first { $0["here"] as? Bool == false }?["machine"] as? String)
        func text(_ arguments: String...) throws -> [UInt8] {
            let outcome = try place.run(["cat", "latest:empty", "--root", place.root.string] + arguments)
            #expect(outcome.status == 0, "\(outcome.errorText)")
            return outcome.output
        }
        #expect(try text() == [])
        #expect(try text("--host", String(machine.prefix(8))) == Array("elsewhere".utf8))
        let unknown = try place.run("cat", "latest:empty", "--root", place.root.string, "--host", "nobody")
        #expect(unknown.status == 1 && unknown.errorText.contains("no snapshots"))
    }

    @Test("a moved root keeps its history, also with a rebuilt catalogue")
    func move() throws {
        let new = place.path("elsewhere/moved")
        #expect(try place.run("capture", place.root.string, "--exclude", "data.bin").status == 0)
        try FileManager.default.createDirectory(
            atPath: place.path("elsewhere").string, withIntermediateDirectories: true)
        try FileManager.default.moveItem(atPath: place.root.string, toPath: new.string)
        let moved = try place.run("roots", "move", place.root.string, new.string)
        #expect(moved.status == 0, "\(moved.errorText)")
        // The exclusions also apply at the new path.
        let again = try place.run("capture", new.string, "--json")
        #expect(try JSON.array(again.output).first?["snapshot"] is NSNull)
        try Data("new".utf8).write(to: URL(filePath: new.string + "/empty"))
        #expect(try place.run("capture", new.string).status == 0)
        // At the old path, another directory begins its own history.
        try place.write("other", "another root")
        #expect(try place.run("capture", place.root.string).status == 0)
        func check() throws {
            let roots = try roots().sorted { "\($0["root"] ?? "")" < "\($1["root"] ?? "")" }
            #expect(roots.map { $0["root"] as? String } == [new.string, place.root.string])
            #expect(roots.map { $0["snapshots"] as? Int } == [2, 1])
            let list = try JSON.array(place.run("list", "--json", "--root", new.string).output)
            #expect(list.map { $0["sequence"] as? Int } == [1, 2])
            #expect(list.allSatisfy { $0["root"] as? String == new.string })
            let check = try place.run("check", "--data")
            #expect(check.status == 0, "\(check.errorText)")
        }
        try check()
        try FileManager.default.removeItem(atPath: place.archive.appending("catalogue.sqlite").string)
        try check()
        let refused = try place.run("roots", "move", place.root.string, new.string)
        #expect(refused.status == 1 && refused.errorText.contains("already"))
    }

    @Test("status reports no problem for a retired root until it is captured again")
    func forget() throws {
        #expect(try place.run("capture", place.root.string).status == 0)
        let watcher = try place.start("watch", place.root.string, "--json")
        _ = try watcher.line { $0.contains("\"event\":\"watching\"") }
        watcher.send(SIGTERM)
        #expect(try watcher.finish().status == 0)
        #expect(try place.run("status").status == 1)
        #expect(try place.run("roots", "forget", place.root.string).status == 0)
        let findings = try place.run("status")
        #expect(findings.status == 0, "\(findings.text)")
        #expect(try roots().first?["retired"] is String)
        // No watcher is expected, also if the root is named.
        let named = try place.run("status", place.root.string)
        #expect(named.status == 0 && named.text.contains("retired  \(place.root)"), "\(named.text)")
        #expect(named.text.contains("no watcher is expected; its snapshots stay"), "\(named.text)")
        #expect(try place.listed().count == 1)
        try place.write("empty", "back")
        #expect(try place.run("capture", place.root.string).status == 0)
        #expect(try roots().first?["retired"] is NSNull)
    }

    @Test("exclusions are remembered, reported, and changed only on request")
    func exclusions() throws {
        func entries() throws -> Set<String> {
            let lines = try place.run("show", "--entries", "latest", "--json").output
            return Set(try JSON.array(lines).compactMap { $0["path"] as? String })
        }
        #expect(try place.run("capture", place.root.string, "--exclude", "notes/").status == 0)
        try place.write("empty", "1")
        let remembered = try place.run("capture", place.root.string)
        #expect(remembered.errorText.contains("as before, excludes notes/"))
        #expect(try !entries().contains("notes"))
        let aside = try place.run("capture", place.root.string, "--exclude", "data.bin")
        #expect(aside.errorText.contains("only this time, excludes data.bin; otherwise, excludes notes/"))
        #expect(try entries().contains("notes/todo.txt") && !entries().contains("data.bin"))
        #expect(try place.run("capture", place.root.string).status == 0)
        #expect(try !entries().contains("notes") && entries().contains("data.bin"))
        let reset = try place.run("capture", place.root.string, "--reset-exclusions")
        #expect(reset.errorText.contains("from now on, no exclusions; before, excludes notes/"))
        #expect(try place.run("capture", place.root.string).errorText.isEmpty)
        #expect(try entries().contains("notes/todo.txt"))
    }
}
