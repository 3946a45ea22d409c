// The end of a program with an autosave: by a signal, normally, or by a kill.

import ArchiveFormat
import ArchiverKit
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Saving at the end of a program", .blocking)
struct SignalTests {
    private let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        try sandbox.base.write("scores.json", #"{"groups": {}}"#)
    }

    private struct Scores: Codable, Sendable {
        var groups: [String: [String: Int]]
    }

    private func quiz(_ arguments: String...) throws -> Program { try quiz(["--stay"] + arguments) }

    private func quiz(_ arguments: [String]) throws -> Program {
        let archive = "ARCHIVER_ARCHIVE=\(sandbox.archive.directory)"
        let defaults = sandbox.base.directory.appending("scores.json").string
        return try Program(
            [archive, BuiltProgram.path(of: "examples"), "quiz", "--defaults", defaults] + arguments)
    }

    private func right() throws -> Int? {
        try sandbox.reopened().load(Scores.self, as: "quiz").groups["capitals"]?["right"]
    }

    @Test(
        "SIGTERM, SIGINT and SIGHUP end a program only after its state is saved", .timeLimit(.minutes(60)),
        arguments: [SIGTERM, SIGINT, SIGHUP])
    func termination(signal: CInt) async throws {
        let program = try quiz("--answer", "capitals", "--times", "5", "--quiet", "3600")
        try await program.line { $0 == "playing" }
        #expect(try right() == nil)
        program.send(signal)
        #expect(try await program.end().status == -signal)
        #expect(try right() == 5)
    }

    @Test(
        "the last changes are saved at the end of main and at exit(0) without ending the autosave",
        .timeLimit(.minutes(60)), arguments: ["main", "exit"])
    func normalEnd(ending: String) async throws {
        let program = try quiz(
            ["--answer", "capitals", "--times", "5", "--quiet", "3600", "--ending", ending])
        #expect(try await program.end().status == 0)
        #expect(try right() == 5)
    }

    @Test("the last saved state survives kill -9", .timeLimit(.minutes(60)))
    func kill() async throws {
        let program = try quiz("--answer", "capitals", "--times", "7", "--quiet", "0.01")
        try await program.line { $0 == "saved" }
        program.send(SIGKILL)
        #expect(try await program.end().status == -SIGKILL)
        #expect(try right() == 7)
        #expect(try sandbox.reopened().check(data: true).findingCount == 0)
    }

    @Test("a program killed at any moment leaves only complete states", .timeLimit(.minutes(60)))
    func killedWhileSaving() async throws {
        for round in 1...8 {
            let program = try quiz("--answer", "capitals", "--times", "\(round * 40)", "--quiet", "0")
            _ = await program.nextLine()
            if round.isMultiple(of: 2) { _ = await program.nextLine() }
            program.send(SIGKILL)
            _ = try await program.end()
            let archive = try sandbox.reopened()
            for memento in try archive.history(of: "quiz") {
                _ = try await archive.load(Scores.self, as: "quiz", at: SnapshotSelector(memento.id.hex))
            }
            #expect(try archive.check(data: true).findings == [])
        }
    }
}
