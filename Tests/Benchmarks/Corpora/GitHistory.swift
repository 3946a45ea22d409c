// Successive states of a git repository, checked out into one directory. The repository itself is not changed.

internal import SystemPackage

/// The newest first-parent states of a git repository.
struct GitHistory {
    private let repository: FilePath
    /// The index file that git uses instead of the repository's own.
    private let index: FilePath
    /// The commits, the oldest first.
    let commits: [String]

    /// - Parameters:
    ///   - repository: a git directory, or a work tree.
    ///   - count: the maximum number of states.
    init(of repository: FilePath, count: Int, index: FilePath) throws {
        let directory = try Command("git", "-C", repository.string, "rev-parse", "--absolute-git-dir").text()
        self.repository = FilePath(String(directory.prefix { $0 != "\n" }))
        self.index = index
        let log = ["log", "--first-parent", "--reverse", "--format=%H", "--max-count=\(count)"]
        commits = try Command(["git", "--git-dir", self.repository.string] + log).text()
            .split(separator: "\n").map(String.init)
    }

    /// Checks out `commit` into `directory`; writes only the files that differ.
    ///
    /// - Parameter index: the index file; each directory needs one of its own.
    func checkOut(_ commit: String, into directory: FilePath, index: FilePath? = nil) throws {
        try Command(
            "git", "--git-dir", repository.string, "--work-tree", directory.string, "read-tree", "--reset", "-u",
            commit, environment: ["GIT_INDEX_FILE": (index ?? self.index).string]
        ).run()
    }

    /// The states as a git revision range.
    var range: String { "\(commits.first ?? "HEAD")..\(commits.last ?? "HEAD")" }

    func git(_ words: [String]) -> Command { Command(["git", "--git-dir", repository.string] + words) }

    /// The file of the last state that was changed by the most states.
    func mostChangedFile(in tree: FilePath) throws -> String {
        let names = try git(["log", "--first-parent", "--name-only", "--format=", range]).text()
        var counts: [Substring: Int] = [:]
        for name in names.split(separator: "\n") { counts[name, default: 0] += 1 }
        let present = try git(["ls-tree", "-r", "--name-only", commits.last ?? "HEAD"]).text()
        let files = Set(present.split(separator: "\n"))
        let best = counts.filter { files.contains($0.key) }.max { ($0.value, $1.key) < ($1.value, $0.key) }
        guard let best else { throw BenchmarkError("no file of \(repository) was changed") }
        return String(best.key)
    }
}
