// The same history as snapshots and as git commits, to compare the output of both programs.

import FileIO
import Foundation
import SystemPackage
import TestSupport
import Testing

/// A repository whose work tree is captured with every commit; the repository itself is outside of the tree.
final class GitHistory {
    private let work: Workplace
    private let tree: String
    /// The snapshots in the order of the commits.
    private(set) var snapshotIDs: [String] = []
    private(set) var commitIDs: [String] = []

    init(_ work: Workplace, _ tree: String) throws {
        self.work = work
        self.tree = tree
        try git("init", "-q")
        for (key, value) in [
            ("user.name", "A"), ("user.email", "a@example.org"), ("gc.auto", "0"), ("commit.gpgsign", "false"),
            ("core.autocrlf", "false"),
        ] { try git("config", key, value) }
    }

    @discardableResult
    func git(_ words: String...) throws -> ChildProcess.Outcome {
        let place = ["--git-dir", work.path("repository").string, "--work-tree", work.path(tree).string]
        let outcome = try ChildProcess.run(
            "git", (place + words).map { Array($0.utf8) },
            environment: ["HOME": work.path("").string, "GIT_CONFIG_NOSYSTEM": "1"], directory: work.path(tree))
        #expect(outcome.status == 0 || words.first == "grep", "git \(words): \(outcome.errorText)")
        return outcome
    }

    /// Captures and commits the tree, which must have changed.
    func commit() throws {
        snapshotIDs.append(try work.capture())
        try git("add", "-A")
        try git("commit", "-q", "-m", "state \(commitIDs.count)")
        commitIDs.append(try #require(try git("rev-parse", "HEAD").lines.first))
    }

    /// The numbers of the states for lines that begin with ids of snapshots.
    func snapshots(_ lines: [String]) -> [Int] {
        lines.compactMap { line in snapshotIDs.firstIndex { $0.hasPrefix(line.prefix(8)) } }
    }

    /// The numbers of the states for lines that begin with ids of commits.
    func commits(_ lines: [String]) -> [Int] {
        lines.compactMap { line in commitIDs.firstIndex { $0.hasPrefix(line.prefix(40)) } }
    }
}
