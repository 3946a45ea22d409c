// Output on small terminals, and through a pager.

import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct NarrowTerminalTests {
    @Test("tables and help fit a terminal of 60 columns", .enabled(if: Workplace.hasTerminals))
    func narrow() throws {
        let work = try Workplace()
        _ = try work.capture()
        _ = try work.run(
            "capture", work.root.string, "--label", "a label that is much too long for a terminal this narrow")
        _ = try work.run("restore", "oldest", "--root", work.root.string)
        try work.write("notes/todo.txt", "three\n")
        _ = try work.run("capture", work.root.string)
        _ = try work.run("restore", "oldest:notes/todo.txt", "--root", work.root.string)
        for arguments in [
            ["operations"], ["log", "notes/todo.txt"], ["log"], ["find", "todo"], ["sessions"], ["deleted"],
            ["list"], ["list", "--all"], ["roots"], ["log", "--all"], ["sessions", "--all"],
            ["changes", "oldest"], ["blame", "notes/todo.txt"], ["--help"], ["help", "selectors"],
            ["restore", "--help"], ["status"], ["note", "--all"],
        ] {
            let outcome = try work.startOnTerminal(columns: 60, arguments).finish()
            #expect(outcome.status == 0, "\(outcome.text)")
            for line in outcome.text.split(separator: "\r\n") {
                let visible = line.replacing(/\u{1B}\[[0-9;]*[mK]/, with: "")
                #expect(visible.count <= 60, "\(arguments): \(visible)")
            }
        }
    }

    @Test("long output goes through the pager only on a terminal", .enabled(if: Workplace.hasTerminals))
    func pager() throws {
        let work = try Workplace()
        let id = try work.capture()
        let mark = ["ARCHIVER_PAGER": "sed s/^/paged:/", "PAGER": "false"]
        _ = try work.run("restore", "oldest", "--root", work.root.string)
        try work.write("notes/todo.txt", "three\n")
        _ = try work.run("capture", work.root.string)
        _ = try work.run("restore", "oldest:notes/todo.txt", "--root", work.root.string)
        for arguments in [
            ["operations"], ["list"], ["show", id], ["diff", "--root", work.root.string, id],
        ] {
            try work.write("new", "new")
            let text = try work.startOnTerminal(arguments, environment: mark).finish().text
            #expect(text.hasPrefix("paged:"), "\(arguments): \(text)")
        }
        #expect(
            try work.startOnTerminal("list", environment: ["ARCHIVER_PAGER": ""]).finish().text.contains(id.prefix(8)))
        #expect(try !work.startOnTerminal("list", "--no-pager", environment: mark).finish().text.contains("paged:"))
        #expect(try !work.run("list", environment: mark).text.contains("paged:"))
        #expect(try !work.startOnTerminal("status", environment: mark).finish().text.contains("paged:"))
    }
}
