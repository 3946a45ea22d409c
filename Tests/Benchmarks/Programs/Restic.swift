// restic (restic.net): deduplicating, encrypting backups.

internal import SystemPackage

struct Restic: RestoringProgram {
    let name = "restic"

    var isInstalled: Bool { Command.isInstalled("restic") }

    private func command(_ words: String..., store: FilePath) -> Command { command(words, store: store) }

    func command(_ words: [String], store: FilePath) -> Command {
        // The cache is inside the store, so that it is removed with it.
        command(words, repository: store.appending("repository").string, cache: store.appending("cache"))
    }

    /// A command on a repository anywhere.
    func command(
        _ words: [String], repository: String, cache: FilePath, environment: [String: String] = [:]
    ) -> Command {
        Command(
            ["restic", "--quiet", "--repo", repository] + words,
            environment: environment.merging(["RESTIC_PASSWORD": "bench", "RESTIC_CACHE_DIR": cache.string]) { $1 })
    }

    func create(_ store: FilePath) throws { try command("init", store: store).run() }

    func capture(_ tree: FilePath, into store: FilePath) -> [Command] { [command("backup", tree.string, store: store)] }

    func restoreLatest(of tree: FilePath, from store: FilePath, to target: FilePath) -> Command {
        command("restore", "latest", "--target", target.string, store: store)
    }

    func restored(_ tree: FilePath, in target: FilePath) -> FilePath {
        FilePath(root: nil, tree.components).isEmpty ? target : target.pushing(FilePath(root: nil, tree.components))
    }

    func list(_ store: FilePath) -> Command { command("snapshots", store: store) }

    func diff(_ store: FilePath) throws -> Command {
        let ids = try ids(in: store)
        guard let left = ids.dropLast().last, let right = ids.last else {
            throw BenchmarkError("restic lists fewer than two snapshots")
        }
        return command("diff", left, right, store: store)
    }

    /// Searches every snapshot for a file name.
    func find(_ name: String, in store: FilePath) -> Command { command("find", name, store: store) }

    func storedBytes(_ store: FilePath) throws -> Int { try TreeSize.bytes(store.appending("repository")) }

    /// The ids of all snapshots, the oldest first.
    func ids(in store: FilePath) throws -> [String] {
        try Restic.ids(command("snapshots", "--compact", store: store).text())
    }

    /// The ids in the output of `restic snapshots`: the first word of each row between the rules.
    private static func ids(_ text: String) -> [String] {
        text.split(separator: "\n").compactMap { $0.split(separator: " ").first.map(String.init) }
            .filter { $0.count == 8 && $0.allSatisfy(\.isHexDigit) }
    }
}
