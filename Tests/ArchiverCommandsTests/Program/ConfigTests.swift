// `archiver config`: what holds, where it comes from, and each way a file can be wrong.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct ConfigTests {
    private let work: Workplace
    private var file: FilePath { work.path(".config/archiver/config.toml") }

    init() throws { work = try Workplace() }

    private func configure(_ text: String) throws { try work.configure(text) }

    @Test("each value is shown with its file and line, and an option or a variable is named in their place")
    func show() throws {
        try configure(
            "archive = \"\(work.path("other").string)\"\n\n[[root]]\npath = \"\(work.root.string)\"\nsettle = \"1s\"\n")
        let rows = try JSON.array(work.run("config", "--json").output)
        #expect(rows.first?["from"] as? String == "$ARCHIVER_ARCHIVE")
        let settle = try #require(rows.first { ($0["key"] as? String)?.hasSuffix(" settle") == true })
        #expect(settle["value"] as? String == "1s")
        #expect(settle["from"] as? String == "\(file):5")
        let configured = try JSON.array(work.run("config", "--json", environment: ["ARCHIVER_ARCHIVE": ""]).output)
        #expect(configured.first?["value"] as? String == work.path("other").string)
        #expect(configured.first?["from"] as? String == "\(file):1")
        let option = try JSON.array(work.run("config", "--json", "--archive", "/x").output)
        #expect(option.first?["from"] as? String == "--archive")
    }

    @Test("the configured archive is the one that all commands use")
    func archive() throws {
        try configure("archive = \"~/mine\"\n")
        let outcome = try work.run("capture", work.root.string, environment: ["ARCHIVER_ARCHIVE": ""])
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(access(work.path("mine/archive.json").string, F_OK) == 0)
    }

    @Test(
        "a wrong file is a usage error with file, line and remedy",
        arguments: [
            ("[[root]]\npath = \"/a\"\nsetle = \"1s\"\n", 3, "unknown key 'setle'", "did you mean 'settle'?"),
            ("settle = \"1s\"\n", 1, "unknown key 'settle'", "belongs to [[root]]"),
            ("archive = 1\n", 1, "'archive' must be a text", "write archive ="),
            ("archive = \"here\"\n", 1, "depends on the current directory", "begin the path with / or ~/"),
            ("[[root]]\npath = \"/a\"\nsettle = \"1\"\n", 3, "'settle' is '1', which is not a duration", "100ms"),
            ("[[root]]\npath = \"/a\"\nsettle = \"5s\"\nmax-delay = \"1s\"\n", 3, "would have to be quiet", "must not"),
            ("[[root]]\npath = \"/a\"\nexclude = [\"[a\"]\n", 3, "matches nothing", "write"),
            ("[[root]]\nsettle = \"1s\"\n", 1, "the root has no path", "write path ="),
            ("[keep]\npolicy = \"usual\"\ndaily = \"1y\"\n", 1, "exclude each other", "remove one"),
            ("[keep]\ndaily = \"1 month\"\n", 2, "is not a span", "30d"),
            ("[budget]\nmin-free = \"110%\"\n", 2, "is not a size or a percentage", "10%"),
            (
                "[[root]]\npath = \"/a\"\n[[root]]\npath = \"/a/./b/..\"\n", 3, "is a root already, in line 1",
                "remove one"
            ),
            (
                "archive = \"/a\"\n[[root]]\npath = \"/a/b\"\n", 2, "the archive's own directory or inside it",
                "name another"
            ),
            (
                "[[root]]\npath = \"/usr\"\n[[root]]\npath = \"/usr/bin\"\n", 3, "is inside the root /usr of line 1",
                "exclude"
            ),
            ("on-event = \"\"\n", 1, "'on-event' is empty", "name a command"),
            ("on-event = [\"a\"]\n", 1, "'on-event' must be a text", "write on-event ="),
            ("log-file = \"log\"\n", 1, "depends on the current directory", "begin the path with / or ~/"),
            ("private-logs = \"yes\"\n", 1, "'private-logs' must be true or false", "write private-logs = true"),
            ("= nonsense\n", 1, "this is not TOML", "quotes"),
        ])
    func wrong(_ text: String, _ line: Int, _ reason: String, _ remedy: String) throws {
        try configure(text)
        for command in [["config", "check"], ["config"], ["reload"], ["service"], ["enable", work.root.string]] {
            let outcome = try work.run(command)
            expectRefusal(outcome, 64, naming: "\(file):\(line): ")
            #expect(outcome.errorText.contains(reason), "\(outcome.errorText)")
            #expect(outcome.errorText.contains(remedy), "\(outcome.errorText)")
        }
    }

    @Test("a root inside another is right if the outer one excludes it")
    func excludedInner() throws {
        try configure("[[root]]\npath = \"/usr\"\nexclude = [\"/bin/\", \"/lib/\"]\n[[root]]\npath = \"/usr/bin\"\n")
        #expect(try work.run("config", "check").status == 0)
    }

    @Test("a file that others may write is refused")
    func writable() throws {
        try configure("archive = \"/a\"\n")
        chmod(file.string, 0o666)
        let outcome = try work.run("config", "check")
        expectRefusal(outcome, 64, naming: file.string)
        #expect(outcome.errorText.contains("chmod go-w"))
    }

    @Test(
        "a file that may not be read is refused with its name", .enabled(if: getuid() != 0 || ConfigTests.canDropRights)
    )
    func unreadable() throws {
        try configure("archive = \"/a\"\n")
        chmod(file.string, 0)
        // Root may read everything.
        let words = [Workplace.program.string, "config", "check"]
        let outcome =
            getuid() == 0
            ? try ChildProcess.run(
                "setpriv",
                (["--reuid=\(getuid())", "--bounding-set=-all", "--inh-caps=-all"] + words).map { Array($0.utf8) },
                environment: ["HOME": work.path("").string])
            : try work.run("config", "check")
        expectRefusal(outcome, 64, naming: file.string)
        #expect(outcome.errorText.contains("Permission denied"), "\(outcome.errorText)")
    }

    private static let canDropRights = access("/usr/bin/setpriv", X_OK) == 0

    @Test("another file can be checked; a missing one is an error")
    func otherFile() throws {
        let other = work.path("tree/new.toml")
        try work.write("new.toml", "[[root]]\npath = \"/a\"\n")
        chmod(other.string, 0o644)
        #expect(try work.run("config", "check", other.string).text.hasSuffix("is right: 1 root.\n"))
        expectRefusal(try work.run("config", "check", "/none.toml"), 64, naming: "/none.toml")
    }

    @Test("the file wins over what the archive remembers: 'roots' names it, 'roots set' and 'keep' refuse")
    func oneTruth() throws {
        _ = try work.capture()
        try configure("[keep]\npolicy = \"usual\"\n\n[[root]]\npath = \"\(work.root.string)\"\n")
        let rows = try JSON.array(work.run("roots", "--json").output)
        #expect(rows.first?["configured"] as? String == "\(file):4")
        #expect(try work.run("roots").text.contains("\(file):4"))
        let refused = try work.run("roots", "set", work.root.string, "--settle", "1s")
        expectRefusal(refused, 64, naming: "\(file):4")
        expectRefusal(try work.run("keep", "--everything"), 64, naming: "\(file):1")
        #expect(try work.run("keep", "--max-size", "20G").status == 0)
    }

    @Test("without a home directory in the environment, the account's is used")
    func noHome() throws {
        let outcome = try ChildProcess.run(
            "env", ["-u", "HOME", Workplace.program.string, "config", "--json"].map { Array($0.utf8) })
        #expect(outcome.status == 0 || outcome.status == 64, "\(outcome.errorText)")
    }
}
