// The help of the program: the first commands, all of them in groups, and the man pages made from it.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct HelpTests {
    private let work: Workplace

    init() throws { work = try Workplace() }

    @Test("the first help shows a dozen commands in groups, and 'help commands' shows every command once")
    func groups() throws {
        let first = try work.run("help")
        #expect(first.status == 0)
        #expect(try work.run("--help").text == first.text)
        #expect(first.lines.count { $0.firstMatch(of: /^ {4}[a-z]+ {2,}[A-Z]/) != nil } == 12, "\(first.text)")
        #expect(first.lines.allSatisfy { $0.count <= 80 })
        let all = try work.run("help", "commands")
        #expect(all.status == 0)
        let described = try ChildProcess.run(Workplace.program, [Array("--experimental-dump-help".utf8)])
        let root = try #require(try JSON.object(described.output)["command"] as? [String: Any])
        let names = (root["subcommands"] as? [[String: Any]] ?? []).compactMap { $0["commandName"] as? String }
        for name in names where name != "help" {
            #expect(all.lines.count { $0.hasPrefix("  \(name) ") } == 1, "\(name)")
        }
        for group in ["WATCH", "LOOK", "FIND", "GO BACK", "KEEP", "LOOK AFTER"] {
            #expect(all.lines.contains("\(group) SUBCOMMANDS:"), "\(all.text)")
        }
        #expect(first.text.contains("lists all \(names.count - 1))"), "\(names.count)")
    }

    @Test("the man pages are right for mandoc, and there is one for each command", .enabled(if: HelpTests.hasPython))
    func manual() throws {
        let place = work.path("man")
        let made = try ChildProcess.run(
            "python3",
            ["fixtures/manual.py", Workplace.program.string, place.string, "January 1, 2026"].map { Array($0.utf8) },
            directory: HelpTests.repository)
        #expect(made.status == 0, "\(made.errorText)")
        let pages = try FileManager.default.contentsOfDirectory(atPath: place.appending("man1").string)
        #expect(pages.count > 40 && pages.contains("archiver-enable.1"))
        guard access("/usr/bin/mandoc", X_OK) == 0 else { return }
        let all =
            pages.map { place.appending("man1").appending($0).string }
            + ["archiver-config.5", "archiver-format.5"].map { place.appending("man5").appending($0).string }
        let lint = try ChildProcess.run("mandoc", (["-T", "lint", "-W", "warning"] + all).map { Array($0.utf8) })
        #expect(lint.text.isEmpty && lint.status == 0, "\(lint.text.prefix(2000))")
        let shown = try ChildProcess.run(
            "mandoc", ["-T", "utf8", place.appending("man1/archiver-enable.1").string].map { Array($0.utf8) })
        #expect(shown.text.contains("sudo archiver enable --system /etc"), "\(shown.text)")
    }

    private static let repository = FilePath(
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardizedFileURL.path())
    private static let hasPython = access("/usr/bin/python3", X_OK) == 0
}
