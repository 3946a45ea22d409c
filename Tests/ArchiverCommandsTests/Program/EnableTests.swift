// `archiver enable` and `archiver disable`, with a systemctl that records its calls, and without any.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct EnableTests {
    private let work: Workplace
    private var file: FilePath { work.path(".config/archiver/config.toml") }
    private var unit: FilePath { work.path(".config/systemd/user/archiver.service") }
    /// The program's path without links.
    private let program = Workplace.program.withPlatformString { realpath($0, nil).map { String(cString: $0) } } ?? ""
    private var calls: FilePath { work.path("calls") }

    init() throws {
        work = try Workplace()
        try work.write(program: "bin/systemctl", "#!/bin/sh\necho \"$*\" >> '\(work.path("calls"))'\n")
    }

    /// An environment with the recording systemctl.
    private var systemd: [String: String] { ["PATH": "\(work.path("bin")):/usr/bin:/bin"] }
    private static let none = ["PATH": "/nonexistent"]

    private func run(_ words: String..., environment: [String: String]) throws -> ChildProcess.Outcome {
        try work.run(words.map { Array($0.utf8) }, in: work.path(""), environment: environment)
    }

    private func text(_ path: FilePath) -> String? { try? String(contentsOfFile: path.string, encoding: .utf8) }

    @Test("enable captures, configures and starts; twice changes nothing; disable takes it back and history stays")
    func enable() throws {
        let first = try run("enable", work.root.string, "--exclude", "*.o", "--settle", "1s", environment: systemd)
        #expect(first.status == 0, "\(first.errorText)")
        #expect(first.text.contains("The service is running and starts by itself; 1 root in \(file)."))
        #expect(first.text.contains("Look: 'archiver status'. Undo: 'archiver disable \(work.root)'"))
        #expect(first.lines.last?.hasPrefix("The archive \(work.archive) takes ") == true)
        #expect(try work.listed().count == 1)
        let configuration = try #require(text(file))
        #expect(configuration.contains("exclude = [\"*.o\"]\nsettle = \"1s\"\n"), "\(configuration)")
        #expect(configuration.contains("archive = \"\(work.archive)\"\n"))
        #expect(
            text(calls) == "--user daemon-reload\n--user enable --quiet --now archiver.service archiver-check.timer\n")
        let written = try #require(text(unit))
        #expect(written.contains("ExecStart=\"\(program)\" service\n"))
        let units = unit.removingLastComponent()
        #expect(text(units.appending("archiver-check.timer"))?.contains("OnCalendar=weekly\n") == true)
        #expect(
            text(units.appending("archiver-check.service"))?.contains("ExecStart=\"\(program)\" check --part --quiet\n")
                == true)

        let again = try run("enable", work.root.string, environment: systemd)
        #expect(again.text.hasPrefix("Nothing to do: the service is enabled"), "\(again.text)")
        #expect(text(file) == configuration)
        #expect(text(unit) == written)
        #expect(try work.listed().count == 1)

        unlink(calls.string)
        let disabled = try run("disable", work.root.string, environment: systemd)
        #expect(disabled.status == 0, "\(disabled.errorText)")
        #expect(
            text(calls) == "--user disable --quiet --now archiver.service archiver-check.timer\n--user daemon-reload\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: units.string).isEmpty)
        #expect(text(file)?.contains("[[root]]") == false)
        #expect(try work.listed().count == 1)
        #expect(try run("disable", environment: systemd).text.hasPrefix("Nothing to do"))
        expectRefusal(try run("disable", work.root.string, environment: systemd), 1, naming: "is not configured")
    }

    @Test("a running service takes over an enabled directory and lets go of a disabled one")
    func running() throws {
        try work.write("../other/file", "x")
        let other = work.path("other")
        try work.configure("archive = \"\(work.archive)\"\n\n[[root]]\npath = \"\(work.root)\"\n")
        let process = try work.start("service", "--json")
        _ = try process.line { $0.contains("\"watching\"") }
        #expect(try run("enable", other.string, environment: systemd).status == 0)
        _ = try process.line { $0.contains("\"watching\"") && $0.contains(other.string) }
        let disabled = try run("disable", other.string, environment: systemd)
        #expect(disabled.status == 0, "\(disabled.errorText)")
        _ = try process.line { $0.contains("\"stopped\"") && $0.contains(other.string) }
        process.send(SIGTERM)
        #expect(try process.finish().status == 0)
    }

    @Test("comments and order of the file stay, and what the archive remembers goes into it")
    func edit() throws {
        _ = try work.capture()
        #expect(try work.run("roots", "set", work.root.string, "--settle", "1s", "--exclude", "a\"b").status == 0)
        let before = "# mine\narchive = \"\(work.archive)\"\n\n[budget] # little\nmax-size = \"20G\"\n"
        try work.configure(before)
        #expect(try run("enable", work.root.string, environment: systemd).status == 0)
        let after = try #require(text(file))
        #expect(after.hasPrefix(before + "\n[[root]]\n"), "\(after)")
        #expect(after.contains("exclude = [\"a\\\"b\"]\nsettle = \"1s\"\n"), "\(after)")
        #expect(try work.run("keep").text.contains("at most 20.0 GiB"))
        #expect(try run("disable", work.root.string, environment: systemd).status == 0)
        #expect(text(file)?.hasPrefix(before) == true)
    }

    @Test("without systemd, the line for cron is printed, or the desktop gets an entry")
    func withoutSystemd() throws {
        let cron = try run("enable", work.root.string, environment: EnableTests.none)
        #expect(cron.status == 0, "\(cron.errorText)")
        #expect(cron.lines.contains("  @reboot \(program) service"), "\(cron.text)")
        #expect(text(unit) == nil)
        let desktop = EnableTests.none.merging(["XDG_CURRENT_DESKTOP": "GNOME"]) { $1 }
        let entry = work.path(".config/autostart/archiver.desktop")
        #expect(try run("enable", environment: desktop).status == 0)
        #expect(text(entry)?.contains("Exec=\"\(program)\" service\n") == true)
        #expect(try run("disable", environment: desktop).status == 0)
        #expect(text(entry) == nil)
    }

    @Test("disable names a line for cron and a service that was started by hand, and lets that one go of the directory")
    func otherStarts() throws {
        try work.write(
            program: "bin/crontab",
            "#!/bin/sh\necho '# @reboot archiver service'\necho '@reboot /usr/bin/archiver service'\n"
        )
        #expect(try run("enable", work.root.string, environment: systemd).status == 0)
        let process = try work.start("service", "--json")
        _ = try process.line { $0.contains("\"watching\"") }
        let disabled = try run("disable", work.root.string, environment: systemd)
        #expect(
            disabled.errorText.contains("'crontab -e' removes it: @reboot /usr/bin/archiver service\n"),
            "\(disabled.errorText)")
        #expect(disabled.errorText.contains("'kill \(process.id)' ends it"), "\(disabled.errorText)")
        _ = try process.line { $0.contains("\"stopped\"") }
        process.send(SIGTERM)
        #expect(try process.finish().status == 0)
    }

    @Test("the first watch of a directory on a terminal names enable", .enabled(if: Workplace.hasTerminals))
    func greeting() throws {
        let first = try work.startOnTerminal("watch", work.root.string)
        _ = try first.line { $0.contains("'archiver enable \(work.root)' captures it also after the next start.") }
        first.send(SIGTERM)
        _ = try first.finish()
    }

    @Test("a unit that the user has written stays as it is")
    func foreignUnit() throws {
        try work.write("../.config/systemd/user/archiver.service", "[Service]\nExecStart=/my/own\n")
        #expect(try run("enable", work.root.string, environment: systemd).status == 0)
        #expect(text(unit) == "[Service]\nExecStart=/my/own\n")
        #expect(try run("disable", environment: systemd).status == 0)
        #expect(text(unit) == "[Service]\nExecStart=/my/own\n")
    }

    @Test("the machine's service has its own file, unit and archive", .enabled(if: getuid() == 0))
    func system() throws {
        let place = work.path("machine")
        let environment = systemd.merging(["ARCHIVER_ARCHIVE": ""]) { $1 }
        let outcome = try run(
            "enable", "--system", work.root.string, "--destination", place.string, environment: environment)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let unit = try #require(text(place.pushing("etc/systemd/system/archiver.service")))
        #expect(unit.contains("ExecStart=\"\(program)\" service --system\n"))
        #expect(unit.contains("ReadWritePaths=\"-\(place.pushing("var/lib/archiver/archive"))\"\n"))
        #expect(text(place.pushing("etc/archiver/config.toml"))?.contains(work.root.string) == true)
        #expect(text(calls) == "daemon-reload\nenable --quiet --now archiver.service archiver-check.timer\n")
    }

    @Test("bad input is refused before anything is written")
    func refusals() throws {
        expectRefusal(try run("enable", environment: systemd), 64, naming: "no directory is configured yet")
        expectRefusal(try run("enable", "/none/such", environment: systemd), 1, naming: "/none/such")
        if getuid() == 0 {
            let sudo = systemd.merging(["SUDO_UID": "1000"]) { $1 }
            expectRefusal(try run("enable", work.root.string, environment: sudo), 64, naming: "sudo")
        }
        #expect(text(file) == nil)
        #expect(try run("enable", work.root.string, environment: systemd).status == 0)
        let before = text(file)
        let inner = work.root.appending("notes").string
        expectRefusal(try run("enable", inner, environment: systemd), 64, naming: "is inside the root \(work.root)")
        let other = try run("enable", work.root.string, "--settle", "9s", "--max-delay", "10s", environment: systemd)
        expectRefusal(other, 64, naming: "\(file):")
        let archive = work.archive.appending("locks").string
        expectRefusal(try run("enable", archive, environment: systemd), 1, naming: "the archive's own directory")
        #expect(text(file) == before)
    }

    @Test("a directory whose name is not UTF-8 is refused")
    func bytes() throws {
        let name = work.path("").bytes + [0x2F, 0xFF]
        #expect(FilePath(bytes: name).withPlatformString { mkdir($0, 0o755) } == 0)
        let outcome = try work.run([Array("enable".utf8), name], in: work.path(""), environment: systemd)
        expectRefusal(outcome, 64, naming: "not UTF-8")
    }

    @Test("the units are valid for systemd, and the machine's is well confined", .enabled(if: EnableTests.canAnalyze))
    func analyze() throws {
        let place = work.path("machine")
        #expect(try run("enable", work.root.string, environment: systemd).status == 0)
        let verified = try ChildProcess.run(
            "systemd-analyze", ["verify", "--user", unit.string].map { Array($0.utf8) },
            environment: ["XDG_RUNTIME_DIR": work.path("").string])
        #expect(!verified.errorText.contains("archiver.service:"), "\(verified.errorText)")
        guard getuid() == 0 else { return }
        #expect(
            try run("enable", "--system", work.root.string, "--destination", place.string, environment: systemd)
                .status == 0)
        let machine = place.pushing("etc/systemd/system/archiver.service").string
        let security = try ChildProcess.run(
            "systemd-analyze", ["security", "--offline=true", "--threshold=30", machine].map { Array($0.utf8) })
        #expect(security.status == 0, "\(security.text)")
    }

    private static let canAnalyze = access("/usr/bin/systemd-analyze", X_OK) == 0
}
