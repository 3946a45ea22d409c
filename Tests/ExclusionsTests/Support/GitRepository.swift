// git as the oracle for the meaning of its patterns.

import FileIO
import Foundation
import SystemPackage
import TestSupport

/// A repository in a directory of its own, with no tracked files.
struct GitRepository {
    struct Failure: Error { let message: String }

    let directory: OpenDirectory
    /// The directory for git's input and output.
    private let exchange: TemporaryDirectory

    init() throws {
        directory = try OpenDirectory()
        exchange = try TemporaryDirectory()
        _ = try run(["init", "--quiet", "--template="])
    }

    /// The paths among `paths` that git excludes, by `git check-ignore`.
    func ignored(among paths: [RelativePath]) throws -> Set<RelativePath> {
        // With "./" a leading colon has no special meaning.
        let input = Array(paths.map { Array("./".utf8) + $0.bytes + [0] }.joined())
        let fields = try run(
            ["check-ignore", "--no-index", "--verbose", "--non-matching", "--stdin", "-z"], input: input,
            expected: [0, 1])
        // Four fields per path: source, line number, pattern and path.
        guard fields.count == paths.count * 4 else { throw Failure(message: "\(fields.count) fields") }
        var ignored = Set<RelativePath>()
        for (index, path) in paths.enumerated() {
            let (source, pattern) = (fields[index * 4], fields[index * 4 + 2])
            if !source.isEmpty && pattern.first != UInt8(ascii: "!") { ignored.insert(path) }
        }
        return ignored
    }

    /// The files that git does not exclude, by `git ls-files`, which unlike check-ignore accepts patterns as arguments.
    func included(exceptFor patterns: [String]) throws -> Set<RelativePath> {
        let arguments = ["ls-files", "--others", "--exclude-per-directory=.gitignore", "-z"]
        return Set(try run(arguments + patterns.map { "--exclude=\($0)" }).compactMap { RelativePath(Array($0)) })
    }

    /// Runs git.
    ///
    /// - Returns: its output, split at NULs.
    private func run(
        _ arguments: [String], input: [UInt8] = [], expected: Set<Int32> = [0]
    ) throws -> [ArraySlice<UInt8>] {
        let files = ["in", "out", "err"].map { exchange.url.appending(path: $0) }
        try Data(input).write(to: files[0])
        for file in files[1...] { try Data().write(to: file) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["git"] + arguments
        process.currentDirectoryURL = URL(filePath: directory.path.string)
        process.environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": exchange.path.string,
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_CEILING_DIRECTORIES": directory.path.string,
        ]
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        try process.run()
        process.waitUntilExit()
        guard process.terminationReason == .exit, expected.contains(process.terminationStatus) else {
            throw Failure(message: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self))
        }
        let output = [UInt8](try Data(contentsOf: files[1]))
        return output.split(separator: 0, omittingEmptySubsequences: false).dropLast()
    }
}
