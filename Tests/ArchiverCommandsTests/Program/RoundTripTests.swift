// Capture, show, change, restore, undo: through the command line.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct RoundTripTests {
    @Test("captured files are listed, shown, printed, compared and restored")
    func wholeJob() throws {
        let work = try Workplace()
        let first = try work.capture()
        try work.copyTree(to: "copy")
        try work.write("notes/todo.txt", "one\n2\n")
        try work.write("new", "new\n")
        unlink(work.path("tree/empty").string)
        let second = try work.capture()

        let listed = try JSON.array(work.run("list", "--json").output)
        #expect(listed.map { $0["id"] as? String } == [first, second])
        #expect(listed[1]["parent"] as? String == first)
        #expect(listed[0]["parent"] is NSNull)

        #expect(try work.run("cat", "latest~1:notes/todo.txt").text == "one\ntwo\n")
        #expect(try work.run("cat", "\(first.prefix(10)):data.bin").output == work.read("tree/data.bin"))

        let names = try work.run("diff", "latest~1", "latest").lines
        #expect(names.contains("- empty"))
        #expect(names.contains("+ new"))
        #expect(names.contains("~ notes/todo.txt (content, time)"))

        let restored = try work.run("restore", first, "--root", work.root.string)
        #expect(restored.status == 0, "\(restored.errorText)")
        #expect(try work.difference(of: work.root, and: "copy") == "")
        #expect(restored.lines.count == 1)
        #expect(restored.text.contains("archiver undo"))
    }

    @Test("a restore is undone by the command that it names")
    func undo() throws {
        let work = try Workplace()
        let first = try work.capture()
        try work.write("notes/todo.txt", "work that was never captured\n")
        try work.copyTree(to: "copy")
        let outcome = try work.run("restore", first, "--root", work.root.string)
        let command = try #require(outcome.text.split(separator: "'").dropFirst().first)
        #expect(command == "archiver undo \(work.root)")
        let undone = try work.run(command.split(separator: " ").dropFirst().map(String.init))
        #expect(undone.status == 0, "\(undone.errorText)")
        #expect(try work.difference(of: work.root, and: "copy") == "")
    }

    @Test("a dry run reports what would be done, and changes nothing")
    func dryRun() throws {
        let work = try Workplace()
        let first = try work.capture()
        try work.write("notes/todo.txt", "changed\n")
        try work.write("new", "new\n")
        unlink(work.path("tree/empty").string)
        try work.copyTree(to: "copy")
        let plan = try work.run("restore", first, "--dry-run", "--root", work.root.string).lines
        #expect(plan.contains("create    empty"))
        #expect(plan.contains("replace   notes/todo.txt"))
        #expect(plan.contains("delete    new"))
        #expect(try work.difference(of: work.root, and: "copy") == "")
        let json = try JSON.object(work.run("restore", first, "--dry-run", "--json", "--root", work.root.string).output)
        let actions = try #require(json["actions"] as? [[String: Any]])
        #expect(json["dryRun"] as? Bool == true)
        #expect(actions.contains { $0["action"] as? String == "delete" && $0["path"] as? String == "new" })
        #expect(try work.difference(of: work.root, and: "copy") == "")
    }

    @Test("one path can be restored, and another target can be used")
    func parts() throws {
        let work = try Workplace()
        let id = try work.capture()
        try work.copyTree(to: "copy")
        try work.write("notes/todo.txt", "changed\n")
        try work.write("data.bin", "changed")
        #expect(try work.run("restore", "\(id):notes", "--root", work.root.string).status == 0)
        #expect(try work.read("tree/notes/todo.txt") == Array("one\ntwo\n".utf8))
        #expect(try work.read("tree/data.bin") == Array("changed".utf8))
        #expect(try work.run("restore", id, "--target", work.path("elsewhere").string).status == 0)
        #expect(try work.difference(of: work.path("elsewhere"), and: "copy") == "")
    }

    @Test("a deleted root is restored")
    func goneRoot() throws {
        let work = try Workplace()
        _ = try work.capture()
        try work.copyTree(to: "copy")
        _ = try ChildProcess.run("rm", ["-rf", work.root.string].map { Array($0.utf8) })
        let outcome = try work.run("restore", "latest", "--root", work.root.string)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(try work.difference(of: work.root, and: "copy") == "")
    }

    @Test("if nothing changed, no snapshot is made, and the latest one is named")
    func unchanged() throws {
        let work = try Workplace()
        let id = try work.capture()
        let outcome = try work.run("capture", work.root.string)
        #expect(outcome.status == 0)
        #expect(outcome.text.contains("nothing has changed since \(id.prefix(8))"))
        #expect(try JSON.array(work.run("list", "--json").output).count == 1)
    }

    @Test("directories that differ only in their time are shown in JSON and with -v")
    func directoryTimes() throws {
        let work = try Workplace()
        let id = try work.capture()
        try work.write("notes/new", "new\n")
        _ = try work.capture()
        #expect(try work.run("diff", id).lines == ["+ notes/new"])
        #expect(try work.run("diff", id, "latest").lines == ["+ notes/new"])
        #expect(try work.run("diff", id, "latest", "-v").lines == ["~ notes/ (time)", "+ notes/new"])
        #expect(try JSON.array(work.run("diff", id, "latest", "--json").output).count == 2)
        #expect(try work.run("show", "latest").lines.filter { $0.contains("notes") } == ["+ notes/new"])
        #expect(try work.run("show", "latest", "-v").lines.filter { $0.contains("notes") }.count == 2)
        let details = try JSON.object(work.run("show", "latest", "--json").output)
        #expect((details["changedPaths"] as? [Any])?.count == 1)
        #expect(details["added"] as? Int == 1 && details["modified"] as? Int == 0)
        // A directory with more changes than the time gets a line.
        chmod(work.path("tree/notes").string, 0o700)
        #expect(try work.run("diff", "latest").lines == ["~ notes/ (permissions)"])
    }

    @Test("one file restored to an empty directory is in it")
    func oneFileElsewhere() throws {
        let work = try Workplace()
        let id = try work.capture()
        try FileManager.default.createDirectory(atPath: work.path("out").string, withIntermediateDirectories: false)
        let outcome = try work.run("restore", "\(id):notes/todo.txt", "--target", work.path("out").string)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(outcome.text.contains("notes/todo.txt into \(work.path("out"))"))
        #expect(try work.read("out/todo.txt") == Array("one\ntwo\n".utf8))
    }

    @Test("an archive below the root is not captured")
    func archiveInside() throws {
        let work = try Workplace()
        let archive = work.path("tree/.archive").string
        let process = try work.start("watch", work.root.string, "--archive", archive, "--json", "--settle", "10ms")
        var parent: String?
        for number in 0...2 {
            if number > 0 { try work.write("notes/new", "\(number)") }
            let event = try JSON.object(process.line { $0.contains("\"event\":\"snapshot\"") })
            // If the archive's own files were watched, there would be snapshots in between.
            #expect(event["parent"] as? String == parent)
            parent = event["id"] as? String
        }
        process.send(SIGTERM)
        #expect(try process.finish().status == 0)
        #expect(try work.run("show", "latest", "--entries", "--archive", archive).text.contains(".archive") == false)
        #expect(try work.run("check", "--data", "--archive", archive).status == 0)
    }

    @Test("any name is captured, shown on one line, and encoded as bytes in JSON")
    func strangeNames() throws {
        let work = try Workplace()
        let name: [UInt8] = Array("a\n".utf8) + [0xFF]
        let file = work.root.appending(FilePath(bytes: name).components)
        _ = try Descriptor.open(file, O_WRONLY | O_CREAT, permissions: 0o644)
        let id = try work.capture()
        let listing = try work.run("show", id, "--entries")
        #expect(listing.lines.contains { $0.hasSuffix("\ta\\x0a\\xff") })
        let entries = try JSON.array(work.run("show", id, "--entries", "--json").output)
        let encoded = Data(name).base64EncodedString()
        #expect(entries.contains { $0["pathBytes"] as? String == encoded })
        let selector = Array("\(id):".utf8) + name
        let shown = try work.run([Array("cat".utf8), selector], in: work.path(""))
        #expect(shown.status == 0, "\(shown.errorText)")
    }

    @Test("diff --text is a patch, and --stat counts")
    func textDiff() throws {
        let work = try Workplace()
        let id = try work.capture()
        try work.write("notes/todo.txt", "one\nthree\n")
        try work.write("data.bin", [0, 1, 2])
        let text = try work.run("diff", id, "--patch").text
        #expect(text.contains("--- a/notes/todo.txt\n+++ b/notes/todo.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"))
        #expect(text.contains("Binary files a/data.bin and b/data.bin differ\n"))
        let stat = try JSON.object(work.run("diff", "\(id):notes", "--stat", "--json").output)
        #expect(stat["added"] as? Int == 0)
        let differences = try JSON.array(work.run("diff", "\(id):notes/todo.txt", "--json").output)
        #expect(differences.count == 1)
        #expect((differences.first?["aspects"] as? [String])?.contains("content") == true)
        #expect((differences.first?["left"] as? [String: Any])?["size"] as? Int == 8)
    }

    @Test("show shows a snapshot and its entries completely")
    func show() throws {
        let work = try Workplace()
        let id = try work.capture()
        let details = try JSON.object(work.run("show", "latest", "--json").output)
        #expect(details["id"] as? String == id)
        #expect((details["changedPaths"] as? [Any])?.isEmpty == false)
        let shown = try JSON.object(work.run("show", "latest:notes", "--json").output)
        #expect(shown["id"] as? String == id)
        let listing = try #require(shown["entry"] as? [String: Any])
        #expect((listing["entries"] as? [[String: Any]])?.map { $0["path"] as? String } == ["notes/todo.txt"])
        #expect(try work.run("show", "latest:notes").lines.count == 1)
        #expect(throws: Never.self) { try JSON.object(work.run("show", "latest", "--raw").output) }
    }

    @Test("check finds no damage in a good archive, and repair rebuilds its catalogue")
    func checkAndRepair() throws {
        let work = try Workplace()
        let id = try work.capture()
        let check = try JSON.object(work.run("check", "--data", "--json").output)
        #expect(check["goodSnapshots"] as? Int == 1)
        #expect(check["findingCount"] as? Int == 0)
        let repaired = try work.run("repair", "--catalogue", "--json")
        #expect(repaired.status == 0, "\(repaired.errorText)")
        #expect(try JSON.object(repaired.output)["snapshots"] as? Int == 1)
        #expect(try JSON.array(work.run("list", "--json").output).first?["id"] as? String == id)
    }

    @Test("a reader that closes the pipe ends the program quietly")
    func closedPipe() throws {
        let work = try Workplace()
        try work.write("big", [UInt8](repeating: 0x61, count: 4 << 20))
        let id = try work.capture()
        let process = try work.start("cat", "\(id):big")
        try process.closeOutput()
        let outcome = try process.finish()
        #expect(outcome.status == 0)
        #expect(outcome.errorText == "")
    }
}
