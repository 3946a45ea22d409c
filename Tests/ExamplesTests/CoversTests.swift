// The covers example, with a real server on this machine and without it.

import Foundation
import Glibc
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
        server.stop()
        #expect(
            try show("blue", "hejira", "horses") == [
                "blue: 40000 bytes, kept", "hejira: 40000 bytes, kept", "horses: the server cannot be reached",
            ])
    }

    private func examples(_ words: [String]) throws -> [String] {
        let process = Process()
        process.executableURL = URL(filePath: BuiltProgram.path(of: "examples"))
        process.arguments = words
        process.environment = ProcessInfo.processInfo.environment.merging([
            "ARCHIVER_ARCHIVE": folder.appending(path: "archive").path(), "no_proxy": "127.0.0.1",
        ]) { $1 }
        let file = folder.appending(path: "output")
        _ = FileManager.default.createFile(atPath: file.path(), contents: nil)
        let writer = try FileHandle(forWritingTo: file)
        process.standardOutput = writer
        process.standardError = writer
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
    }
}

/// Python's web server on a free port.
private final class Server {
    private let process = Process()
    private let log: URL
    let port: Int

    struct NoServer: Error { let log: String }

    init(serving folder: URL) throws {
        log = folder.deletingLastPathComponent().appending(path: "server.log")
        _ = FileManager.default.createFile(atPath: log.path(), contents: nil)
        let writer = try FileHandle(forWritingTo: log)
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder.path(),
        ]
        process.standardOutput = writer
        process.standardError = writer
        process.standardInput = FileHandle.nullDevice
        try process.run()
        // The server prints its port: "Serving HTTP on 127.0.0.1 port 41234 …".
        while true {
            let text = try String(contentsOf: log, encoding: .utf8)
            if let match = text.firstMatch(of: /port (\d+)/), let port = Int(match.1) {
                self.port = port
                return
            }
            guard process.isRunning else { throw NoServer(log: text) }
            sched_yield()
        }
    }

    deinit { stop() }

    func stop() {
        guard process.isRunning else { return }
        // It has inherited the test runner's signal mask, in which SIGTERM may be blocked.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
