// Output that appears only on a terminal.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit

@Suite(.blocking)
struct TerminalTests {
    private static let escape = "\u{1B}["

    @Test("tables and colours appear only on terminals", .enabled(if: Workplace.hasTerminals))
    func table() throws {
        let work = try Workplace()
        let id = String(try work.capture().prefix(8))
        let terminal = try lines(work.startOnTerminal("list"))
        #expect(terminal.count == 3)
        #expect(terminal.first?.contains("snapshots of \(work.root)") == true)
        #expect(terminal.dropFirst().first?.contains("changes") == true)
        #expect(terminal.last?.contains("\(TerminalTests.escape)33m\(id)\(TerminalTests.escape)0m") == true)

        for plain in [
            try work.startOnTerminal("list", environment: ["NO_COLOR": "1"]),
            try work.startOnTerminal("list", "--no-color"),
        ] {
            let lines = try lines(plain).dropFirst()
            #expect(lines.first?.hasPrefix("id ") == true)
            #expect(lines.last?.hasPrefix(id) == true)
            #expect(lines.allSatisfy { !$0.contains(TerminalTests.escape) })
        }

        let pipe = try work.run("list")
        #expect(pipe.lines.count == 1)
        #expect(!pipe.text.contains(TerminalTests.escape))
    }

    @Test("a terminal shows only the newest of very many snapshots", .enabled(if: Workplace.hasTerminals))
    func veryMany() throws {
        let work = try Workplace()
        let archive = try Archive.open(work.archive, creating: true)
        let records = (0..<1003).map { ListedSnapshot.made($0, at: Int64($0)) }
        try archive.store.catalogue.enter(
            segment: 0, length: 0, chunks: [], records: CommitRecords(snapshots: records))
        let newest = records.suffix(1000).map(\.id.short)

        let table = try lines(work.startOnTerminal("list", "--no-color")).dropFirst()
        #expect(table.dropFirst().dropLast().map { String($0.prefix(8)) } == newest)
        #expect(table.last == "3 older ones are not shown: see --since and --until, or --limit 1003 for all")
        #expect(try lines(work.startOnTerminal("list", "-q")).count == 1001)
        let reversed = try lines(work.startOnTerminal("list", "--no-color", "--reverse")).dropFirst()
        #expect(reversed.dropFirst().dropLast().map { String($0.prefix(8)) } == newest.reversed())
        #expect(try lines(work.startOnTerminal("list", "--limit", "1003")).count == 1005)
        #expect(try work.run("list").lines.map { String($0.prefix(8)) } == records.map(\.id.short))
        #expect(try JSON.array(work.run("list", "--json").output).count == 1003)
    }

    /// The output on a terminal, line by line.
    private func lines(_ process: ChildProcess) throws -> [Substring] {
        try process.finish().text.split(separator: "\r\n")
    }

    @Test("progress is shown on a terminal and erased at the end", .enabled(if: Workplace.hasTerminals))
    func progress() throws {
        let work = try Workplace()
        _ = try work.capture()
        try work.write("new", "new")
        let lock = try work.blockCaptures()
        let process = try work.startOnTerminal("capture", work.root.string)
        try process.output { $0.contains("\rcapturing \(work.root)") }
        _ = consume lock
        let outcome = try process.finish()
        #expect(outcome.status == 0)
        let shown = try #require(outcome.text.split(separator: "\r\u{1B}[K").last)
        #expect(shown.contains("+1 ~"), "\(outcome.text)")

        for quiet in [["-q"], ["--json"]] {
            try work.write("new", "\(quiet)")
            let text = try work.startOnTerminal("capture", work.root.string, quiet[0]).finish().text
            #expect(!text.contains("capturing"), "\(text)")
        }
        try work.write("new", "again")
        let pipe = try work.run("capture", work.root.string)
        #expect(pipe.errorText == "")
        #expect(!pipe.text.contains("\r"))
    }

    @Test("watch prints a line before its first capture, and its progress on SIGUSR1")
    func firstLine() throws {
        let work = try Workplace()
        _ = try work.capture()
        let lock = try work.blockCaptures()
        let process = try ChildProcess(
            "sh",
            ["-c", "exec \"$0\" watch \"$1\" 2>&1", Workplace.program.string, work.root.string]
                .map { Array($0.utf8) },
            environment: ["ARCHIVER_ARCHIVE": work.archive.string], directory: "/")
        let first = try process.line { _ in true }
        #expect(first.hasSuffix("  watching \(work.root): comparing with the latest snapshot…"), "\(first)")
        process.send(SIGUSR1)
        let answer = try process.line { _ in true }
        #expect(answer == "capturing \(work.root)", "\(answer)")
        _ = consume lock
        _ = try process.line { $0.contains("  watching \(work.root): 3 files") }
        process.send(SIGUSR1)
        _ = try process.line { $0 == "up to date  \(work.root)" }
        process.send(SIGTERM)
        #expect(try process.finish().status == 0)
    }

    @Test("names cannot control the terminal", .enabled(if: Workplace.hasTerminals))
    func names() throws {
        let work = try Workplace()
        try work.write("\u{1B}[2Jgone", "")
        let id = try work.capture()
        let shown = try work.startOnTerminal("show", "\(id):", "--no-color").finish().text
        #expect(shown.contains("\\x1b[2Jgone"))
        #expect(!shown.contains("\u{1B}"))
    }
}
