// The covers example, with a real server on this machine and without it.

import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Covers from a server", .blocking)
struct CoversTests {
    private let scratch: TemporaryDirectory
    private var folder: URL { scratch.url }

    init() throws { scratch = try TemporaryDirectory() }

    @Test("covers are fetched once and shown without the server; the least recently used are removed first")
    func covers() throws {
        let files = folder.appending(path: "files")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        for (name, seed) in [("blue", 1), ("horses", 2), ("hejira", 3)] {
            let bytes = (0..<40_000).map { UInt8(truncatingIfNeeded: ($0 * $0 + seed * $0) / 7) }
            try Data(bytes).write(to: files.appending(path: name))
        }
        let server = try Server(serving: files)
        func show(_ names: String..., budget: Int = 1_000_000) throws -> [String] {
            try examples(["covers", "--budget", "\(budget)"] + names.map { "http://127.0.0.1:\(server.port)/\($0)" })
        }
        #expect(try show("blue", "horses") == ["blue: 40000 bytes, fetched", "horses: 40000 bytes, fetched"])
        #expect(try show("blue", "none") == ["blue: 40000 bytes, kept", "none: the server has no such cover"])
        // The budget has room for two: the cover that was not used since is removed.
        #expect(
            try show("blue", "hejira", budget: 85_000) == ["blue: 40000 bytes, kept", "hejira: 40000 bytes, fetched"])
        try server.stop()
        #expect(
            try show("blue", "hejira", "horses") == [
                "blue: 40000 bytes, kept", "hejira: 40000 bytes, kept", "horses: the server cannot be reached",
            ])
    }

    private func examples(_ words: [String]) throws -> [String] {
        try ChildProcess.run(
            [BuiltProgram.path(of: "examples")] + words,
            environment: ["ARCHIVER_ARCHIVE": folder.appending(path: "archive").path(), "no_proxy": "127.0.0.1"],
            joinsErrors: true
        ).lines
    }
}

/// Python's web server on a free port.
private final class Server {
    private let process: ChildProcess
    let port: Int

    struct NoServer: Error { let line: String }

    init(serving folder: URL) throws {
        let words = ["python3", "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder.path()]
        process = try ChildProcess(words, joinsErrors: true)
        // The server prints its port: "Serving HTTP on 127.0.0.1 port 41234 …".
        let line = try process.line { $0.contains(" port ") }
        guard let match = line.firstMatch(of: /port (\d+)/), let port = Int(match.1) else { throw NoServer(line: line) }
        self.port = port
    }

    func stop() throws {
        process.send(SIGKILL)
        _ = try process.finish()
    }
}
