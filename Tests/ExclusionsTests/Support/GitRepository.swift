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
        let outcome = try ChildProcess.run(
            ["git"] + arguments,
            environment: [
                "HOME": exchange.path.string, "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_CEILING_DIRECTORIES": directory.path.string,
            ], directory: directory.path, input: input)
        guard expected.contains(outcome.status) else { throw Failure(message: outcome.errorText) }
        return outcome.output.split(separator: 0, omittingEmptySubsequences: false).dropLast()
    }
}
