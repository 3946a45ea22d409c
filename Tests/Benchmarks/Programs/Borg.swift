// BorgBackup (borgbackup.org): deduplicating backups, here without encryption.

internal import SystemPackage

struct Borg: StoreProgram {
    let compression: String

    /// Creates a borg with LZ4, its default, or `zlib`.
    init(compression: String = "lz4") { self.compression = compression }

    var name: String { "borg \(compression)" }

    var isInstalled: Bool { Command.isInstalled("borg") }

    private func command(_ words: String..., store: FilePath) -> Command { command(words, store: store) }

    func command(_ words: [String], store: FilePath) -> Command {
        Command(
            ["borg"] + words,
            environment: [
                "BORG_BASE_DIR": store.appending("base").string, "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes",
                "BORG_RELOCATED_REPO_ACCESS_IS_OK": "yes",
            ])
    }

    func create(_ store: FilePath) throws {
        try Command("mkdir", store.string).run()
        try command("init", "--encryption", "none", store.appending("repository").string, store: store).run()
    }

    func capture(_ tree: FilePath, into store: FilePath) -> [Command] {
        let archive = store.appending("repository").string + "::{utcnow:%Y-%m-%dT%H:%M:%S.%f}"
        return [command("create", "--compression", compression, archive, tree.string, store: store)]
    }

    func storedBytes(_ store: FilePath) throws -> Int { try TreeSize.bytes(store.appending("repository")) }
}
