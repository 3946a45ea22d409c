// A directory to capture, an archive, and the built program.

import ArchiveFormat
import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing

/// The tree and archive of one test, with the built program.
final class Workplace {
    private let place: TemporaryDirectory
    /// The directory that is captured.
    var root: FilePath { place("tree") }
    var archive: FilePath { place("archive") }

    init() throws {
        place = try TemporaryDirectory()
        try write("notes/todo.txt", "one\ntwo\n")
        try write("empty", "")
        try write("data.bin", (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* $0 / 7) })
    }

    /// The built program.
    static let program = FilePath(BuiltProgram.path(of: "archiver"))

    func path(_ name: String) -> FilePath { place.path.pushing(FilePath(name)) }

    func write(_ name: String, _ bytes: [UInt8]) throws { try place.write("tree/" + name, bytes) }
    func write(_ name: String, _ text: String) throws { try place.write("tree/" + name, text) }
    /// Writes a file beside the tree and moves it to its place: a watcher never finds it half written.
    func replace(_ name: String, _ text: String) throws {
        let file = try place.write("replacement", text)
        guard rename(file.string, root.pushing(FilePath(name)).string) == 0 else {
            throw FileError("rename", file, .current)
        }
    }

    func read(_ name: String) throws -> [UInt8] { try place.read(name) }

    private var environment: [String: String] {
        ["ARCHIVER_ARCHIVE": archive.string, "HOME": place.path.string]
    }

    /// Runs `archiver` with `arguments` outside of the tree, and waits for its end.
    @discardableResult
    func run(_ arguments: String..., environment: [String: String] = [:]) throws -> ChildProcess.Outcome {
        try run(arguments.map { Array($0.utf8) }, in: place.path, environment: environment)
    }

    @discardableResult
    func run(
        _ arguments: [[UInt8]], in directory: FilePath, environment: [String: String] = [:]
    ) throws -> ChildProcess.Outcome {
        try ChildProcess.run(
            Workplace.program, arguments, environment: self.environment.merging(environment) { $1 },
            directory: directory)
    }

    @discardableResult
    func run(_ arguments: [String]) throws -> ChildProcess.Outcome {
        try run(arguments.map { Array($0.utf8) }, in: place.path)
    }

    /// Starts `archiver` with `arguments`.
    func start(_ arguments: String...) throws -> ChildProcess { try start(arguments) }

    func start(_ arguments: [String], environment: [String: String] = [:]) throws -> ChildProcess {
        try ChildProcess(
            Workplace.program, arguments.map { Array($0.utf8) },
            environment: self.environment.merging(environment) { $1 }, directory: place.path)
    }

    /// Starts `archiver` on a new terminal, where stdout and stderr are the same.
    func startOnTerminal(_ arguments: String..., environment: [String: String] = [:]) throws -> ChildProcess {
        try startOnTerminal(arguments, environment: environment)
    }

    /// - Parameters:
    ///   - columns: the terminal's width; nil for the default.
    ///   - keys: a file with the typed keys.
    func startOnTerminal(
        columns: Int? = nil, _ arguments: [String], environment: [String: String] = [:], keys: FilePath = "/dev/null"
    ) throws -> ChildProcess {
        let words = [Workplace.program.string] + arguments
        let command =
            (columns.map { "stty columns \($0) && " } ?? "") + words.map { "'" + $0 + "'" }.joined(separator: " ")
        return try ChildProcess(
            "script", ["-qec", command, "/dev/null"].map { Array($0.utf8) },
            environment: ["TERM": "xterm", "ARCHIVER_PAGER": "cat"].merging(self.environment) { $1 }
                .merging(environment) { $1 },
            directory: place.path, input: keys)
    }

    /// Whether the program `script` is available to create terminals.
    static let hasTerminals = access("/usr/bin/script", X_OK) == 0

    /// Writes the user's configuration file.
    func configure(_ text: String) throws {
        let file = try place.write(".config/archiver/config.toml", text)
        chmod(file.string, 0o644)
    }

    /// Writes a program.
    ///
    /// Another process copies it: one that another test starts meanwhile has this process's files open for writing until
    /// its exec(2), so that running the program would fail with ETXTBSY.
    func write(program name: String, _ text: String) throws {
        let source = try place.write("program", text)
        let copying = ["install", "-D", "-m", "755", source.string, path(name).string]
        let outcome = try ChildProcess.run(copying, directory: place.path)
        try #require(outcome.status == 0, "\(outcome.errorText)")
    }

    /// Blocks captures of the tree until the lock is released.
    func blockCaptures() throws -> FileLock {
        let name = "capture-" + ChunkID(hashing: root.bytes).hex.prefix(16) + ".lock"
        return try FileLock.exclusive(EnclosedPath(file: archive.appending("locks").appending(name)))
    }

    /// The ids that `archiver list` lists, the oldest first.
    func listed() throws -> [String] {
        let outcome = try run("list", "--json", "--root", root.string)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        return try JSON.array(outcome.output).compactMap { $0["id"] as? String }
    }

    /// The id of the snapshot that a run of `archiver capture --json` announced; nil if it was killed before.
    static func announced(_ outcome: ChildProcess.Outcome) throws -> String? {
        guard outcome.output.last == UInt8(ascii: "\n") else { return nil }
        return (try JSON.array(outcome.output).first?["snapshot"] as? [String: Any])?["id"] as? String
    }

    /// Temporary files of archiver in `directory`, at any depth.
    func leftovers(in directory: FilePath) throws -> [String] {
        try ChildProcess.run("find", [directory.string, "-name", ".archiver-*"].map { Array($0.utf8) }).lines
    }

    func remove(_ name: String) throws {
        _ = try ChildProcess.run("rm", ["-rf", path(name).string].map { Array($0.utf8) })
    }

    /// Captures the tree and returns the new snapshot's id.
    func capture() throws -> String {
        let outcome = try run("capture", root.string, "--json")
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let results = try JSON.array(outcome.output)
        let snapshot = try #require(results.first?["snapshot"] as? [String: Any])
        return try #require(snapshot["id"] as? String)
    }

    /// Copies the tree with everything in it.
    func copyTree(to name: String, from tree: FilePath? = nil) throws {
        let outcome = try ChildProcess.run(
            "cp", ["-a", (tree ?? root).string, path(name).string].map { Array($0.utf8) })
        #expect(outcome.status == 0, "\(outcome.errorText)")
    }

    /// The output of `diff -r` for the tree and `name`; empty if they are equal.
    func difference(of tree: FilePath, and name: String) throws -> String {
        try ChildProcess.run(
            "diff", ["-r", "--no-dereference", tree.string, path(name).string].map { Array($0.utf8) }
        ).text
    }
}

/// Parses JSON for tests.
enum JSON {
    static func object(_ bytes: [UInt8]) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    static func object(_ line: String) throws -> [String: Any] { try object(Array(line.utf8)) }

    static func array(_ bytes: [UInt8]) throws -> [[String: Any]] {
        try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? [[String: Any]])
    }
}
