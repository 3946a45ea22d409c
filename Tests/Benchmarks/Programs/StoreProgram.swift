// Programs that store states of directories: archiver and its peers, with their command lines.

internal import SystemPackage

/// A program that stores states of directories.
protocol StoreProgram: Sendable {
    /// Its name in the tables.
    var name: String { get }
    /// Whether it is installed.
    var isInstalled: Bool { get }
    /// Creates an empty store.
    func create(_ store: FilePath) throws
    /// The commands that capture the current state of `tree`.
    func capture(_ tree: FilePath, into store: FilePath) -> [Command]
    /// The size of `store`, in bytes.
    func storedBytes(_ store: FilePath) throws -> Int
}

extension StoreProgram {
    func storedBytes(_ store: FilePath) throws -> Int { try TreeSize.bytes(store) }
}

/// A program that can restore a captured state into an empty directory.
protocol RestoringProgram: StoreProgram {
    func restoreLatest(of tree: FilePath, from store: FilePath, to target: FilePath) -> Command
    /// The path of the restored tree's root.
    func restored(_ tree: FilePath, in target: FilePath) -> FilePath
}

extension Workshop {
    /// Returns those of `programs` that are installed, and reports the others.
    func installed(_ programs: [any StoreProgram]) -> [any StoreProgram] {
        programs.filter { program in
            if !program.isInstalled { say("no \(program.name) here: left out") }
            return program.isInstalled
        }
    }
}
