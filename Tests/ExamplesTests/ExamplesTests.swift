// The examples as users see them: every command is its own process.

import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Examples", .blocking)
struct ExamplesTests {
    @Test("each session prints what its file says", arguments: Session.all)
    func sessions(_ session: Session) throws {
        let scratch = try TemporaryDirectory()
        #expect(!session.commands.isEmpty)
        for command in session.commands {
            let lines = try output(of: command.words, in: scratch.url)
            #expect(
                Session.matches(lines[...], command.expected[...]),
                "\(command.words.joined(separator: " ")) printed \(lines)")
        }
    }

    @Test("every example has a session")
    func completeness() {
        let names = Set(Session.all.flatMap(\.commands).map { $0.words.prefix(2).joined(separator: " ") })
        let all = ["game", "user", "quiz", "albums", "network", "timeline"]
        #expect(names.isSuperset(of: all.map { "examples \($0)" }))
    }

    /// The lines that a command writes to standard output and standard error.
    private func output(of words: [String], in folder: URL) throws -> [String] {
        try ChildProcess.run(
            [BuiltProgram.path(of: words[0])] + words.dropFirst(),
            environment: ["ARCHIVER_ARCHIVE": folder.appending(path: "archive").path()],
            directory: FilePath(Session.fixtures.deletingLastPathComponent().path()), joinsErrors: true
        ).lines
    }
}
