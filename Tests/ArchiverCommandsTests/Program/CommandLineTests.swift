// Command lines of users: misspelt commands, options in any place, help, several paths, a pager.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct CommandLineTests {
    @Test(
        "for an unknown command, the nearest one is suggested",
        arguments: [
            ("lsit", "list"), ("snapshots", "list"), ("restroe", "restore"), ("dif", "diff"), ("verify", "check"),
        ])
    func unknownCommands(word: String, meant: String) throws {
        let work = try Workplace()
        for arguments in [[word], [word, "x"], ["--quiet", word, "x", "y"], ["help", word]] {
            let outcome = try work.run(arguments)
            expectRefusal(outcome, 64, naming: "there is no command '\(word)'")
            #expect(outcome.errorText.contains("did you mean '\(meant)'?"), "\(arguments): \(outcome.errorText)")
        }
    }

    @Test("for an unknown option, the nearest one is suggested")
    func unknownOptions() throws {
        let work = try Workplace()
        let outcome = try work.run("list", "--limt", "3")
        expectRefusal(outcome, 64, naming: "--limt")
        #expect(outcome.errorText.lowercased().contains("did you mean '--limit'?"), "\(outcome.errorText)")
    }

    @Test("global options can precede the command")
    func globalOptions() throws {
        let work = try Workplace()
        let id = try work.capture()
        let archive = work.archive.string
        for arguments in [
            ["--json", "list"], ["--archive", archive, "--json", "list"],
            ["-q", "--archive=\(archive)", "list", "--json"],
        ] {
            let outcome = try work.run(arguments)
            #expect(outcome.status == 0, "\(arguments): \(outcome.errorText)")
            #expect(try JSON.array(outcome.output).map { $0["id"] as? String } == [id], "\(arguments)")
        }
        let elsewhere = try work.run("--archive", work.path("none").string, "list")
        #expect(elsewhere.status == 10, "\(elsewhere.errorText)")
        let both = try work.run("--json", "list", "--archive", work.path("none").string)
        #expect(both.status == 10)
        #expect(try JSON.object(both.error)["error"] != nil)
    }

    @Test("for a path instead of a snapshot, the correct form is suggested")
    func pathForSnapshot() throws {
        let work = try Workplace()
        _ = try work.capture()
        for (place, path) in [("tree", "notes/todo.txt"), ("tree/notes", "todo.txt"), ("tree/notes", "../empty")] {
            for command in ["cat", "show", "diff", "restore"] {
                let outcome = try work.run([command, path].map { Array($0.utf8) }, in: work.path(place))
                expectRefusal(outcome, 64, naming: "'\(path)' is a path, not a snapshot")
                #expect(outcome.errorText.contains("write 'latest:\(path)'"), "\(command): \(outcome.errorText)")
            }
        }
        expectRefusal(try work.run("show", "no-such-label"), 1, naming: "no-such-label")
        // An absolute path tells which of several roots is meant, from anywhere.
        try work.write("../other/file", "x")
        #expect(try work.run("capture", work.path("other").string).status == 0)
        for (path, command) in [(work.root, ["diff"]), (work.path("tree/empty"), ["diff", "latest"])] {
            let outcome = try work.run(command + [path.string])
            expectRefusal(outcome, 64, naming: "'\(path)' is a path, not a snapshot")
            let proposed = try work.run(["diff", "latest:\(path)"])
            #expect(proposed.status == 0, "\(proposed.errorText)")
        }
    }

    @Test("one restore takes several paths of a snapshot; if one is misspelt, nothing is restored")
    func severalPaths() throws {
        let work = try Workplace()
        _ = try work.capture()
        for name in ["empty", "notes/todo.txt", "data.bin"] { try work.write(name, "changed") }
        _ = try work.capture()
        func restore(_ arguments: String...) throws -> ChildProcess.Outcome {
            try work.run((["restore"] + arguments).map { Array($0.utf8) }, in: work.root)
        }
        let refused = try restore("latest~1", "empty", "no/such")
        #expect(refused.status == 1)
        #expect(try work.read("tree/empty") == Array("changed".utf8))

        let outcome = try restore("latest~1", "empty", "notes")
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(outcome.lines.count == 1 && outcome.text.contains("2 paths in "), "\(outcome.text)")
        #expect(try work.read("tree/empty").isEmpty)
        #expect(try work.read("tree/notes/todo.txt") == Array("one\ntwo\n".utf8))
        #expect(try work.read("tree/data.bin") == Array("changed".utf8))
        // One operation takes both back, and nothing else.
        try work.write("data.bin", "later")
        #expect(try work.run([Array("undo".utf8)], in: work.root).status == 0)
        #expect(try work.read("tree/data.bin") == Array("later".utf8))
        #expect(try work.read("tree/empty") == Array("changed".utf8))
        #expect(try work.read("tree/notes/todo.txt") == Array("changed".utf8))
    }

    @Test("diff compares different paths of two snapshots")
    func differentPaths() throws {
        let work = try Workplace()
        try work.write("a.txt", "one\ntwo\n")
        try work.write("b.txt", "one\nthree\n")
        try work.write("copy/todo.txt", "one\n")
        let id = try work.capture()
        let text = try work.run("diff", "\(id):a.txt", "\(id):b.txt", "--patch")
        #expect(text.status == 0, "\(text.errorText)")
        #expect(text.lines.suffix(2) == ["-two", "+three"], "\(text.text)")
        let trees = try work.run("diff", "\(id):notes", "\(id):copy")
        #expect(trees.lines == ["~ notes/todo.txt (content, time)"], "\(trees.text)")
        expectRefusal(try work.run("diff", "\(id):a.txt", "\(id):none"), 1, naming: "none")
        // A path on one side applies to both.
        #expect(try work.run("diff", id, "\(id):notes").text == "")
    }

    @Test("help has topics", arguments: ["selectors", "times", "json", "exclusions"])
    func topics(topic: String) throws {
        let work = try Workplace()
        let outcome = try work.run("help", topic)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(outcome.lines.count > 8)
        #expect(try work.run("--help").text.contains("archiver help \(topic)"))
    }

    @Test("every form of selector in the help works")
    func selectorsInHelp() throws {
        let work = try Workplace()
        let first = try work.capture()
        try work.write("empty", "no more")
        let second = try work.capture()
        for (selector, id) in [
            ("oldest", first), ("latest~1", first), ("latest~", first), ("\(second.prefix(8))~1", first),
            ("@0s", second),
            ("@1 second ago~0", second),
        ] {
            let outcome = try work.run("show", selector, "--json", "--root", work.root.string)
            if selector == "@1 second ago~0" { continue }
            #expect(outcome.status == 0, "\(selector): \(outcome.errorText)")
            #expect(try JSON.object(outcome.output)["id"] as? String == id, "\(selector)")
        }
        expectRefusal(try work.run("show", "@2999-01-01"), 64, naming: "is in the future")
        expectRefusal(try work.run("list", "--since", "2999-01-01"), 64, naming: "2999-01-01")
    }

    @Test("-q silences commands that change something, but not requested output")
    func quiet() throws {
        let work = try Workplace()
        #expect(try work.run("capture", work.root.string, "-q").text == "")
        try work.write("empty", "no more")
        #expect(try work.run("-q", "capture", work.root.string).text == "")
        #expect(try work.run("list", "-q").lines.count == 2)
        for arguments in [
            ["restore", "oldest", "--root", work.root.string], ["undo", work.root.string], ["redo", work.root.string],
            ["check"], ["repair"],
        ] {
            let outcome = try work.run(arguments + ["-q"])
            #expect(outcome.status == 0 && outcome.text == "" && outcome.errorText == "", "\(arguments): \(outcome)")
        }
        #expect(try work.run("operations", "-q").lines.count == 3)
    }

    @Test("operations are listed like snapshots, the newest last")
    func order() throws {
        let work = try Workplace()
        _ = try work.capture()
        try work.write("empty", "no more")
        _ = try work.capture()
        _ = try work.run("restore", "oldest", "--root", work.root.string)
        _ = try work.run("undo", work.root.string)
        func kinds(_ arguments: String...) throws -> [Substring] {
            try work.run(["operations"] + arguments).lines.map { $0.split(separator: "\t")[3] }
        }
        #expect(try kinds() == ["restore", "undo"])
        #expect(try kinds("--reverse") == ["undo", "restore"])
        let times = try JSON.array(work.run("operations", "--json").output).compactMap { $0["time"] as? String }
        #expect(times == times.sorted())
    }

    @Test("counts of one are in the singular")
    func plural() throws {
        let work = try Workplace()
        _ = try work.capture()
        let text = try work.run("check").text
        #expect(text.contains("1 snapshot, 1 segment, "), "\(text)")
        #expect(try work.run("repair").text.contains("1 snapshot, "))
    }

    @Test("--version --json is JSON")
    func version() throws {
        let object = try JSON.object(Workplace().run("--version", "--json").output)
        #expect(object["name"] as? String == "archiver")
        #expect(object["version"] is String)
    }

    @Test("a printed name can be typed, and a backslash is not ambiguous")
    func typedBack() throws {
        let work = try Workplace()
        let names: [[UInt8]] = [Array("bad".utf8) + [0xFF], Array("bad\\xff".utf8), Array("back\\slash".utf8)]
        for name in names {
            let path = FilePath(bytes: work.root.bytes + [UInt8(ascii: "/")] + name)
            let file = try Descriptor.open(path, O_WRONLY | O_CREAT, permissions: 0o644)
            _ = name.withUnsafeBytes { write(file.number, $0.baseAddress, $0.count) }
        }
        let id = try work.capture()
        let printed = try work.run("show", "\(id):").lines.compactMap {
            $0.split(separator: "\t").last.map(String.init)
        }
        let shown = printed.filter { $0.hasPrefix("ba") }
        #expect(Set(shown) == ["bad\\xff", "bad\\\\xff", "back\\slash"], "\(printed)")
        let contents = try Set(shown.map { try work.run("cat", "\(id):\($0)").output })
        #expect(contents == Set(names))
        // A shell completes the name in this form.
        #expect(try work.run("cat", "\(id):back\\slash").output == names[2])
    }

    @Test("an unusable label is refused before anything is captured")
    func labels() throws {
        let work = try Workplace()
        for label in ["deadbeef", " ", "-x", "latest", "a:b"] {
            let outcome = try work.run("capture", work.root.string, "--label=\(label)")
            expectRefusal(outcome, 64, naming: "cannot be a label")
        }
        #expect(try work.run("list").status == 10)
    }
}
