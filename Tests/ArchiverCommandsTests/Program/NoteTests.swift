// `archiver note`: notes on snapshots, and the commands that show them.

import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Notes, with the program", .blocking)
struct NoteTests {
    private let work: Workplace
    /// Two snapshots, the older first; the later one changed `notes/todo.txt`.
    private let ids: [String]

    init() throws {
        work = try Workplace()
        _ = try work.capture()
        try work.write("notes/todo.txt", "three\n")
        _ = try work.capture()
        ids = try work.listed()
        #expect(ids.count == 2)
    }

    private func run(_ words: String...) throws -> ChildProcess.Outcome {
        try work.run(words.map { Array($0.utf8) }, in: work.root)
    }

    private func expect(
        _ status: Int32, _ words: String, _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let outcome = try work.run(arguments.map { Array($0.utf8) }, in: work.root)
        let text = outcome.text + outcome.errorText
        #expect(outcome.status == status && text.contains(words), "\(text)", sourceLocation: sourceLocation)
    }

    private func texts(_ object: [String: Any]) -> [String] {
        (object["notes"] as? [[String: Any]])?.compactMap { $0["text"] as? String } ?? ["(no notes)"]
    }

    @Test("the notes of all roots are listed together, with their roots")
    func allRoots() throws {
        try work.write("../other/a", "a")
        let other = work.path("other").string
        try expect(0, other, "capture", other)
        try expect(0, "added", "note", "here")
        try expect(0, "added", "note", "there", "--root", other)
        #expect(try run("note").lines.count == 1)
        let rows = try run("note", "--all").lines.map { $0.components(separatedBy: "\t") }
        #expect(rows.map { $0[2] } == ["here", "there"])
        #expect(rows.map { $0[3] } == [work.root.string, other])
        #expect(try run("note", "--all", "-n", "1").lines.count == 1)
        try expect(64, "leave out --all", "note", "everywhere", "--all")
        // Pins are listed of one root, too.
        try expect(0, "pinned", "pin", "latest")
        try expect(0, "pinned", "pin", "latest", "--root", other)
        #expect(try run("pin").lines.count == 2)
        #expect(try run("pin", "--root", other).lines.count == 1)
    }

    @Test("a note is listed, and shown with its snapshot by list, show and log")
    func shown() throws {
        try expect(0, "There are no notes", "note")
        try expect(0, "added a note to snapshot \(ids[1].prefix(8))", "note", "sent to the\npublisher")
        try expect(0, "added a note to snapshot \(ids[0].prefix(8))", "note", "--at", "oldest", "the first \u{1F4DD}")
        #expect(try run("note", "--quiet", "quietly").output.isEmpty)
        let rows = try run("note").lines.map { $0.components(separatedBy: "\t") }
        #expect(rows.map { $0[1] } == [1, 0, 1].map { String(ids[$0].prefix(8)) })
        #expect(rows.map { $0[2] } == ["sent to the\\x0apublisher", "the first \u{1F4DD}", "quietly"])
        #expect(try run("note", "--until", "2001-01-01").output.isEmpty)
        #expect(try run("note", "--since", "1h").lines.count == 3)

        for _ in 0..<2 {
            let listed = try JSON.array(run("list", "--json").output)
            #expect(listed.map(texts) == [["the first \u{1F4DD}"], ["sent to the\npublisher", "quietly"]])
            #expect(try run("list").lines.filter { $0.hasPrefix("# note\t") }.count == 3)
            let lines = try run("list", "--reverse", "--limit", "1").lines
            #expect(lines.count == 3 && lines[1].hasPrefix("# note\t\(ids[1].prefix(8))\t"), "\(lines)")
            #expect(texts(try JSON.object(run("show", ids[0], "--json").output)) == ["the first \u{1F4DD}"])
            try expect(0, "note\tquietly", "show", "latest")
            let versions = try JSON.array(run("log", "notes/todo.txt", "--json").output)
            #expect(versions.map(texts) == listed.reversed().map(texts))
            #expect(try JSON.array(run("log", "--json").output).map(texts) == listed.reversed().map(texts))
            #expect(try run("log", "notes/todo.txt").lines.filter { $0.hasPrefix("# note\t") }.count == 3)
            #expect(try run("log", "notes").lines.filter { $0.hasPrefix("# note\t") }.count == 3)
            // Notes are in the segments: a rebuilt catalogue has them.
            #expect(try run("repair", "--catalogue").status == 0)
        }
        #expect(try run("check").status == 0)
    }

    @Test("tables show a note below its snapshot", .enabled(if: Workplace.hasTerminals))
    func tables() throws {
        #expect(try run("note", "sent to the publisher").status == 0)
        for command in [["list"], ["log", "notes/todo.txt"], ["log"], ["show", "latest"], ["note"]] {
            let shown = try work.startOnTerminal(command + ["--root", work.root.string]).finish()
            #expect(shown.status == 0 && shown.text.contains("sent to the publisher"), "\(command): \(shown.text)")
        }
    }

    @Test("an invalid note is refused, and nothing is written")
    func refused() throws {
        try expect(64, "blank", "note", "")
        try expect(64, "blank", "note", " \n\t")
        try expect(64, "at most 65536 are allowed", "note", String(repeating: "x", count: 65_537))
        try expect(64, "a text is missing", "note", "--at", "latest")
        try expect(64, "--since", "note", "text", "--since", "1h")
        try expect(64, "is not a time", "note", "--since", "whenever")
        try expect(1, "archiver list", "note", "text", "--at", "no-such-label")
        try expect(64, "leave out the colon and the path", "note", "text", "--at", "latest:empty")
        let elsewhere = work.path("elsewhere").string
        try expect(1, "holds no snapshots of", "note", "text", "--root", elsewhere)
        _ = try ChildProcess.run("mkdir", [Array(elsewhere.utf8)])
        try expect(1, "holds no snapshots of", "note", "text", "--root", elsewhere)
        #expect(try work.run("capture", elsewhere).status == 0)
        let other = try work.run("note", "text", "--root", elsewhere, "--at", ids[0])
        #expect(other.status == 64 && other.errorText.contains(", not to "), "\(other.errorText)")
        #expect(try run("note").output.isEmpty)
        try expect(0, "added a note", "note", String(repeating: "x", count: 65_536))
        #expect(try work.run("note", "nobody watches it", "--root", elsewhere).status == 0)
        #expect(try run("note").lines.count == 1, "each directory has its own")
        // In an empty archive there is no snapshot to add a note to.
        let empty = try work.run("note", "text", environment: ["ARCHIVER_ARCHIVE": work.path("none").string])
        #expect(empty.status == 10, "\(empty.errorText)")
    }

    @Test("the note of a forgotten snapshot stays in the list")
    func forgotten() throws {
        #expect(try run("note", "--at", "oldest", "the first").status == 0)
        #expect(try run("forget", ids[0]).status == 0)
        #expect(try run("note").lines.map { $0.components(separatedBy: "\t")[1] } == [String(ids[0].prefix(8))])
        #expect(try run("list").lines.count == 1)
        #expect(try run("check").status == 0)
    }

    @Test("a note is removed by its text, everywhere or from one snapshot")
    func removed() throws {
        try expect(0, "added", "note", "secret")
        try expect(0, "added", "note", "--at", "oldest", "secret")
        try expect(1, "has no note with this text", "note", "other", "--remove")
        try expect(64, "a text is missing", "note", "--remove")
        try expect(0, "removed 1 note", "note", "--at", "oldest", "secret", "--remove")
        try expect(0, "secret", "note")
        try expect(0, "removed 1 note", "note", "secret", "--remove")
        try expect(0, "There are no notes", "note")
        try expect(0, "all is well", "check")
    }
}
