// git (git-scm.com) with the git directory outside the tree: each capture is a commit of everything.

internal import SystemPackage

struct Git: StoreProgram {
    let name = "git add, commit"

    var isInstalled: Bool { Command.isInstalled("git") }

    private func command(_ words: String..., store: FilePath, tree: FilePath? = nil) -> Command {
        let place = ["--git-dir", store.string] + (tree.map { ["--work-tree", $0.string] } ?? [])
        return Command(
            ["git"] + place + words,
            environment: [
                "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "bench",
                "GIT_AUTHOR_EMAIL": "bench@localhost", "GIT_COMMITTER_NAME": "bench",
                "GIT_COMMITTER_EMAIL": "bench@localhost",
            ])
    }

    func create(_ store: FilePath) throws {
        try Command("git", "init", "--quiet", "--bare", store.string).run()
        try command("config", "gc.auto", "0", store: store).run()
        try command("config", "core.bare", "false", store: store).run()
    }

    func capture(_ tree: FilePath, into store: FilePath) -> [Command] {
        [
            command("add", "--all", "--force", ".", store: store, tree: tree).inDirectory(tree),
            command("commit", "--quiet", "--allow-empty", "--message", "state", store: store, tree: tree),
        ]
    }

    /// Packs everything as small as git can.
    func pack(_ store: FilePath) -> Command { command("gc", "--quiet", "--aggressive", "--prune=now", store: store) }

    func storedBytes(_ store: FilePath) throws -> Int { try TreeSize.bytes(store.appending("objects")) }

    func log(_ store: FilePath) -> Command { command("log", "--oneline", store: store) }
}
