// archiver itself, as a program.

internal import FoundationEssentials
internal import Glibc
internal import SystemPackage

/// The measured binary.
struct Archiver: RestoringProgram {
    let binary: String
    /// The name in the table.
    let name: String

    init(binary: String, name: String = "archiver") { (self.binary, self.name) = (binary, name) }

    var isInstalled: Bool { access(binary, X_OK) == 0 }

    func create(_ store: FilePath) {}

    func command(_ words: String..., store: FilePath) -> Command { command(words, store: store) }

    func command(_ words: [String], store: FilePath) -> Command {
        Command([binary] + words + ["--quiet", "--archive", store.string])
    }

    func capture(_ tree: FilePath, into store: FilePath) -> [Command] {
        [command("capture", tree.string, store: store)]
    }

    func restoreLatest(of tree: FilePath, from store: FilePath, to target: FilePath) -> Command {
        restore("latest", of: tree, from: store, to: target)
    }

    func restore(_ selector: String, of tree: FilePath, from store: FilePath, to target: FilePath) -> Command {
        command("restore", selector, "--root", tree.string, "--target", target.string, store: store)
    }

    func restored(_ tree: FilePath, in target: FilePath) -> FilePath { target }

    /// The id of the latest snapshot of `tree`.
    func latest(of tree: FilePath, in store: FilePath) throws -> String {
        struct Listed: Decodable { let id: String }
        let json = try command(
            "list", "--root", tree.string, "--reverse", "--limit", "1", "--json", store: store
        ).text()
        guard let latest = try JSONDecoder().decode([Listed].self, from: Data(json.utf8)).first else {
            throw BenchmarkError("no snapshot of \(tree) in \(store)")
        }
        return latest.id
    }

    /// All but the ballast, which is room that is kept for a full disk.
    func storedBytes(_ store: FilePath) throws -> Int {
        try TreeSize.bytes(store) - ((try? TreeSize.file(store.appending("ballast"))) ?? 0)
    }

    /// The bytes of the segments alone.
    func segmentBytes(_ store: FilePath) throws -> Int { try TreeSize.bytes(store.appending("segments")) }
}
