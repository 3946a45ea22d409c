// Roots: machines and host names, moves, retirement, exclusions.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
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
        let refused = try place.run("roots", "move", new.string, new.string)
        #expect(refused.status == 1 && refused.errorText.contains("already"))
    }

    /// The snapshots of the only root, which is at `path`, as the content of the file `empty`; also with a rebuilt
    /// catalogue.
    private func expectHistory(
        _ contents: [String], at path: FilePath, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for isRebuilt in [false, true] {
            if isRebuilt {
                try FileManager.default.removeItem(atPath: place.archive.appending("catalogue.sqlite").string)
            }
            let roots = try roots().map { $0["root"] as? String }
            #expect(roots == [path.string], sourceLocation: sourceLocation)
            let list = try JSON.array(place.run("list", "--json", "--root", path.string).output)
            let sequences = list.compactMap { $0["sequence"] as? Int }
            #expect(sequences == sequences.sorted() && Set(sequences).count == list.count)
            #expect(list.allSatisfy { $0["outOfOrder"] as? Bool == false }, sourceLocation: sourceLocation)
            let found = try list.map { snapshot in
                let id = try #require(snapshot["id"] as? String)
                return String(decoding: try place.run("cat", id + ":empty").output, as: UTF8.self)
            }
            #expect(found == contents, sourceLocation: sourceLocation)
            let log = try JSON.array(place.run("log", "empty", "--root", path.string, "--json").output)
            #expect(log.count == contents.count, sourceLocation: sourceLocation)
            let check = try place.run("check", "--data")
            #expect(check.status == 0, "\(check.errorText)", sourceLocation: sourceLocation)
        }
    }

    private func text(_ outcome: ChildProcess.Outcome) -> String { String(decoding: outcome.output, as: UTF8.self) }

    private func capture(_ content: String, at path: FilePath, machine: String? = nil) throws -> String {
        try Data(content.utf8).write(to: URL(filePath: path.appending("empty").string))
        let environment = machine.map { ["ARCHIVER_MACHINE_ID": $0] } ?? [:]
        let capture = try place.run("capture", path.string, environment: environment)
        #expect(capture.status == 0, "\(capture.errorText)")
        return capture.errorText
    }

    @Test("a directory that was moved goes on with its history, and the capture says so", arguments: [false, true])
    func movedDirectory(leavesLink: Bool) throws {
        #expect(try !capture("1", at: place.root).contains("history"))
        #expect(try !capture("2", at: place.root).contains("history"))
        let away = place.path("away")
        try FileManager.default.moveItem(atPath: place.root.string, toPath: away.string)
        if leavesLink { #expect(symlink(away.string, place.root.string) == 0) }
        let text = try capture("3", at: leavesLink ? place.root : away)
        #expect(text.contains("\(away) was at \(place.root) before: its history goes on here"))
        #expect(try !capture("4", at: away).contains("history"))
        try expectHistory(["1", "2", "3", "4"], at: away)
        if !leavesLink {
            let again = try place.run("roots", "move", place.root.string, away.string)
            #expect(
                again.status == 1 && again.errorText.contains("its history is at \(away) now"), "\(again.errorText)")
        }
        // Another directory at the old path has a history of its own, also if it is the first one's copy.
        if leavesLink { #expect(unlink(place.root.string) == 0) }
        try FileManager.default.copyItem(atPath: away.string, toPath: place.root.string)
        #expect(try !capture("5", at: place.root).contains("history"))
        #expect(try roots().map { $0["snapshots"] as? Int }.sorted { ($0 ?? 0) < ($1 ?? 0) } == [1, 4])
    }

    @Test("a directory whose old path holds another one now starts a history, and the capture names the old one")
    func replacedDirectory() throws {
        _ = try capture("1", at: place.root)
        let away = place.path("away")
        try FileManager.default.moveItem(atPath: place.root.string, toPath: away.string)
        try FileManager.default.createDirectory(atPath: place.root.string, withIntermediateDirectories: false)
        let text = try capture("2", at: away)
        #expect(text.contains("'archiver roots move \(place.root) \(away)' joins their snapshots"))
        #expect(try place.run("roots", "move", place.root.string, away.string).status == 0)
        try expectHistory(["1", "2"], at: away)
    }

    @Test("two histories are joined after the fact, the older first, also with a rebuilt catalogue")
    func join() throws {
        let away = place.path("away")
        _ = try capture("1", at: place.root)
        _ = try capture("2", at: place.root)
        try FileManager.default.copyItem(atPath: place.root.string, toPath: away.string)
        try FileManager.default.removeItem(atPath: place.root.string)
        _ = try capture("3", at: away)
        _ = try capture("4", at: away)
        let moved = try place.run("roots", "move", place.root.string, away.string)
        #expect(moved.status == 0, "\(moved.errorText)")
        try expectHistory(["1", "2", "3", "4"], at: away)
        _ = try capture("5", at: away)
        try expectHistory(["1", "2", "3", "4", "5"], at: away)
        // A younger history comes after it.
        try FileManager.default.copyItem(atPath: away.string, toPath: place.root.string)
        _ = try capture("6", at: place.root)
        #expect(try place.run("roots", "move", place.root.string, away.string).status == 0)
        _ = try capture("7", at: away)
        try expectHistory(["1", "2", "3", "4", "5", "6", "7"], at: away)
    }

    @Test("histories of the same span of time are joined only if it is said which comes first")
    func overlap() throws {
        let other = place.path("other")
        try FileManager.default.copyItem(atPath: place.root.string, toPath: other.string)
        _ = try capture("1", at: place.root)
        _ = try capture("2", at: other)
        _ = try capture("3", at: place.root)
        let refused = try place.run("roots", "move", place.root.string, other.string)
        #expect(refused.status == 64 && refused.errorText.contains("--old-first or --new-first"))
        #expect(try roots().count == 2)
        #expect(try place.run("roots", "move", place.root.string, other.string, "--new-first").status == 0)
        let list = try JSON.array(place.run("list", "--json", "--root", other.string).output)
        let contents = try list.map { try place.run("cat", "\($0["id"] ?? ""):empty").output }
        #expect(contents == ["2", "1", "3"].map { Array($0.utf8) })
        #expect(list.contains { $0["outOfOrder"] as? Bool == true })
        #expect(try place.run("check", "--data").status == 0)
    }

    @Test("moving a root to a place that does not exist warns")
    func moveToNothing() throws {
        _ = try capture("1", at: place.root)
        let moved = try place.run("roots", "move", place.root.string, place.path("nothing").string)
        #expect(moved.status == 0 && moved.errorText.contains("there is no directory \(place.path("nothing"))"))
    }

    @Test("a root is forgotten with its history, in one step that can be undone")
    func forgetWithHistory() throws {
        _ = try capture("1", at: place.root)
        #expect(try place.run("label", "latest", "kept", "--root", place.root.string).status == 0)
        _ = try capture("2", at: place.root)
        let forgot = try place.run("roots", "forget", "--with-history", place.root.string)
        #expect(forgot.status == 0 && forgot.errorText.contains("2 snapshots"), "\(forgot.errorText)")
        #expect(try roots().isEmpty)
        #expect(try JSON.array(place.run("list", "--all", "--json").output).isEmpty)
        #expect(try place.run("unforget", "--last").status == 0)
        try expectHistory(["1", "2"], at: place.root)
        #expect(try roots().first?["retired"] is String)
    }

    @Test("a first capture names the snapshots of the same path on another machine, which can be joined")
    func otherMachine() throws {
        _ = try capture("1", at: place.root, machine: "container 1")
        let text = try capture("2", at: place.root)
        #expect(text.contains("$ARCHIVER_MACHINE_ID") && text.contains("'archiver roots move --host "))
        #expect(try !capture("3", at: place.root).contains("history"))
        let machine = try #require(roots().first { $0["here"] as? Bool == false }?["machine"] as? String)
        let moved = try place.run(
            "roots", "move", "--host", String(machine.prefix(8)), place.root.string, place.root.string)
        #expect(moved.status == 0, "\(moved.errorText)")
        try expectHistory(["1", "2", "3"], at: place.root)
    }

    @Test("a snapshot with a time out of order is marked in the list")
    func outOfOrder() throws {
        let faketime: FilePath = "/usr/bin/faketime"
        guard access(faketime.string, X_OK) == 0 else { return }
        _ = try capture("1", at: place.root)
        try place.write("empty", "2")
        let wrong = try ChildProcess.run(
            faketime,
            ["2031-05-05", Workplace.program.string, "capture", "--archive", place.archive.string, place.root.string]
                .map { Array($0.utf8) })
        #expect(wrong.status == 0, "\(wrong.errorText)")
        let text = try capture("3", at: place.root)
        #expect(text.contains("is dated later: the clock is wrong now, or was then"))
        let list = try place.run("list", "--json", "--root", place.root.string)
        #expect(try JSON.array(list.output).map { $0["outOfOrder"] as? Bool } == [false, true, false])
        let lines = self.text(try place.run("list", "--root", place.root.string)).split(separator: "\n")
        #expect(lines.count == 4 && lines.dropFirst(2).first?.hasPrefix("# out of order\t") == true)
        #expect(try place.run("cat", "@1ms:empty", "--root", place.root.string).output == Array("3".utf8))
        let status = try place.run("status")
        #expect(self.text(status).contains("1 snapshot made with a wrong clock"))
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
        #expect(reset.errorText.contains("from now on, excludes helper files of editors; before, excludes notes/"))
        let again = try place.run("capture", place.root.string, "--exclude", "data.bin")
        let otherwise = "only this time, excludes data.bin; otherwise, excludes helper files of editors"
        #expect(again.errorText.contains(otherwise), "\(again.errorText)")
        #expect(try place.run("capture", place.root.string).status == 0)
        #expect(try place.run("capture", place.root.string).errorText.isEmpty)
        #expect(try entries().contains("notes/todo.txt"))
    }
}
