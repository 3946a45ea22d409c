// The examples as users see them: every command is its own process.

import Foundation
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
        let process = Process()
        // A file, because a pipe would stay open as long as any process that other tests start.
        let file = folder.appending(path: "output")
        _ = FileManager.default.createFile(atPath: file.path(), contents: nil)
        let writer = try FileHandle(forWritingTo: file)
        process.executableURL = URL(filePath: BuiltProgram.path(of: words[0]))
        process.arguments = Array(words.dropFirst())
        process.currentDirectoryURL = Session.fixtures.deletingLastPathComponent()
        let archive = folder.appending(path: "archive").path()
        process.environment = ProcessInfo.processInfo.environment.merging(["ARCHIVER_ARCHIVE": archive]) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = writer
        process.standardError = writer
        try process.run()
        process.waitUntilExit()
        let bytes = try Data(contentsOf: file)
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
