// The repositories of version control systems below a root.

internal import ArchiveFormat
internal import FileIO
internal import Roots

/// The places below a root in which version control systems keep their history.
///
/// They are `.git`, `.hg` and `.jj`, at any depth, whether directories or the files of git's worktrees and submodules,
/// and every directory that git recognises as its own, such as a bare repository.
struct Repositories {
    private let root: RootDirectory
    private let source: RestoreSource
    /// Whether each directory is in a repository.
    private var known: [RelativePath: Bool] = [:]

    private static let names: [[UInt8]] = [".git", ".hg", ".jj"].map { Array($0.utf8) }
    /// A directory with a file and two directories of these names is a repository (gitrepository-layout(5)).
    private static let content: [(name: [UInt8], kind: FileKind)] = [
        (Array("HEAD".utf8), .file), (Array("objects".utf8), .directory), (Array("refs".utf8), .directory),
    ]

    /// - Parameter source: the wanted state.
    init(_ root: RootDirectory, _ source: RestoreSource) {
        self.root = root
        self.source = source
    }

    /// Whether `path` is a repository or in one.
    mutating func contain(_ path: RelativePath, isDirectory: Bool) throws -> Bool {
        guard let parent = path.parent else { return false }
        if isDirectory { return try containDirectory(path) }
        return try Repositories.names.contains { $0.elementsEqual(path.name) } || containDirectory(parent)
    }

    private mutating func containDirectory(_ directory: RelativePath) throws -> Bool {
        guard let parent = directory.parent else { return false }
        if let known = known[directory] { return known }
        let result =
            try Repositories.names.contains { $0.elementsEqual(directory.name) } || containDirectory(parent)
            || isGitDirectory(directory)
        known[directory] = result
        return result
    }

    /// Whether the directory looks like a repository, now or in the wanted state.
    private func isGitDirectory(_ directory: RelativePath) throws -> Bool {
        let isNow = Repositories.content.allSatisfy { name, kind in
            let path = directory.appending(name)
            return (try? FileStatus.read(path, beneath: root.directory.descriptor))?.kind == kind
        }
        if isNow { return true }
        return try Repositories.content.allSatisfy { name, kind in
            try source.entry(at: directory.appending(name))?.kind == kind
        }
    }
}
