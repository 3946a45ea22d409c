// The directories that a restore is working in: opened on the way down, finished on the way up.

internal import ArchiveFormat
internal import FileIO
internal import Glibc
internal import Roots
internal import SystemPackage

/// The chain of open directories from the root of a restore to where it works now.
struct OpenDirectories {
    /// What is to be done with a directory once everything in it is done.
    enum Ending: Sendable {
        /// It gets its metadata: what was done in it has changed its time at least.
        case metadata
        /// It is removed, and `replacement` takes its place.
        case removal(replacement: Entry?)
    }

    struct Level: Sendable {
        let path: RelativePath
        let directory: SharedDirectory
        let ending: Ending
        /// The state it shall have, where the step that opened it told.
        let wanted: Entry?
    }

    private let root: SharedDirectory
    private let rootStatus: FileStatus
    private let crossesMounts: Bool
    private(set) var levels: [Level] = []
    private let isRoot = CurrentProcess.isRoot

    /// - Parameter crossesMounts: whether what is mounted below the root belongs to it.
    init(_ root: RootDirectory, crossesMounts: Bool) {
        self.root = root.directory
        rootStatus = root.status
        self.crossesMounts = crossesMounts
    }

    /// Takes the innermost directory off the chain if `path` does not lie in it.
    mutating func popUnlessHolding(_ path: RelativePath) -> Level? {
        guard let last = levels.last, !last.path.contains(path) || last.path == path else { return nil }
        return levels.removeLast()
    }

    /// Takes the innermost directory off the chain; nil where it is empty.
    mutating func pop() -> Level? { levels.popLast() }

    /// The open directory at `path`, put on the chain if it is not there yet.
    mutating func directory(at path: RelativePath) throws -> SharedDirectory {
        if let last = levels.last, last.path == path { return last.directory }
        let directory = try open(path)
        levels.append(Level(path: path, directory: directory, ending: .metadata, wanted: nil))
        return directory
    }

    /// Puts the directory at `path`, which exists, on the chain.
    mutating func push(_ path: RelativePath, _ ending: Ending, wanted: Entry?) throws {
        let directory = try open(path)
        levels.append(Level(path: path, directory: directory, ending: ending, wanted: wanted))
    }

    /// Opens a directory so that names in it can be made and removed.
    ///
    /// - Throws: `RestoreProblem` of that directory, where the error does not concern all of the restore.
    private func open(_ path: RelativePath) throws -> SharedDirectory {
        if path.isRoot {
            if !isRoot { try makeAccessible(path) }
            return root
        }
        do {
            try refuseMount(at: path)
            if !isRoot { try makeAccessible(path) }
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
            if let last = levels.last, let rest = last.path.suffix(of: path) {
                return SharedDirectory(try last.directory.descriptor.open(beneath: rest, flags))
            }
            return SharedDirectory(try root.descriptor.open(beneath: path, flags))
        } catch {
            guard let problem = RestoreProblem(path, error, isOfDirectory: true) else { throw error }
            throw problem
        }
    }

    /// What captures do not enter, restores leave alone.
    private func refuseMount(at path: RelativePath) throws {
        if crossesMounts { return }
        guard let status = try FileStatus.read(path, beneath: root.descriptor) else { return }
        if status.device == rootStatus.device, status.mount == rootStatus.mount { return }
        throw RestoreProblem(
            path, "\(path) is on another file system than the root and was left as it is, with all below it",
            remedy: "unmount it and restore again, or restore elsewhere with '--target DIR'", isOfDirectory: true)
    }

    /// Gives the owner of a directory the right to work in it; its own permissions come back with its metadata.
    private func makeAccessible(_ path: RelativePath) throws {
        if path.isRoot {
            let permissions = try FileStatus.read(root.descriptor).permissions
            if permissions & 0o700 == 0o700 { return }
            return try root.descriptor.setPermissions(permissions | 0o700, path: FilePath(path))
        }
        let place = try root.descriptor.openParent(of: path)
        guard let status = try FileStatus.read(place.name, in: place.directory, path: path),
            status.kind == .directory, status.permissions & 0o700 != 0o700
        else { return }
        try place.directory.setPermissions(
            status.permissions | 0o700, of: place.name, path: FilePath(path))
    }
}
