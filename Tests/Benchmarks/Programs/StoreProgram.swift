// Programs that keep states of directories: archiver and its peers, with the words each of them needs.

internal import SystemPackage

/// A program that keeps states of directories in a store.
protocol StoreProgram: Sendable {
    /// As the tables name it.
    var name: String { get }
    /// Whether it can be run here.
    var isInstalled: Bool { get }
    /// Makes an empty store.
    func create(_ store: FilePath) throws
    /// What captures the present state of `tree`.
    func capture(_ tree: FilePath, into store: FilePath) -> [Command]
    /// What the capture leaves in `store`, in bytes.
    func storedBytes(_ store: FilePath) throws -> Int
}

extension StoreProgram {
    func storedBytes(_ store: FilePath) throws -> Int { try TreeSize.bytes(store) }
}

/// A program that writes a captured state into an empty directory.
protocol RestoringProgram: StoreProgram {
    func restoreLatest(of tree: FilePath, from store: FilePath, to target: FilePath) -> Command
    /// Where the tree's root then is.
    func restored(_ tree: FilePath, in target: FilePath) -> FilePath
}

extension Workshop {
    /// `programs` without those that are not installed, which are named once.
    func installed(_ programs: [any StoreProgram]) -> [any StoreProgram] {
        programs.filter { program in
            if !program.isInstalled { say("no \(program.name) here: left out") }
            return program.isInstalled
        }
    }
}
