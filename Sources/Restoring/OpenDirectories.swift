// The open directories of a restore: opened on the way down, finished on the way up.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Glibc
internal import Roots
internal import SystemPackage

/// The chain of open directories from the root of a restore to its current place.
struct OpenDirectories {
    /// What happens to a directory after everything in it is done.
    enum Ending: Sendable {
        /// Its metadata is set: the work in it has changed at least its time.
        case metadata
        /// It is removed from its parent, and `replacement`, if any, takes its place.
        case removal(from: SharedDirectory, replacement: Entry?)
    }

    struct Level: Sendable {
        let path: RelativePath
        let directory: SharedDirectory
        let ending: Ending
        /// The wanted state, if it was opened by a step with one.
        let wanted: Entry?
    }

    private let root: SharedDirectory
    private let rootStatus: FileStatus
    private let crossesMounts: Bool
    private(set) var levels: [Level] = []
    private let isRoot = CurrentProcess.isRoot

    /// - Parameter crossesMounts: whether file systems mounted below the root belong to it.
    init(_ root: RootDirectory, crossesMounts: Bool) {
        self.root = root.directory
        rootStatus = root.status
        self.crossesMounts = crossesMounts
    }

    /// Removes the innermost directory from the chain if `path` is not in it.
    mutating func popUnlessHolding(_ path: RelativePath) -> Level? {
        guard let last = levels.last, !last.path.contains(path) || last.path == path else { return nil }
        return levels.removeLast()
    }

    /// Removes the innermost directory from the chain; nil if the chain is empty.
    mutating func pop() -> Level? { levels.popLast() }

    /// Returns the open directory at `path`, and adds it to the chain if necessary.
    mutating func directory(at path: RelativePath) throws -> SharedDirectory {
        if let last = levels.last, last.path == path { return last.directory }
        let directory = try open(path)
        levels.append(Level(path: path, directory: directory, ending: .metadata, wanted: nil))
        return directory
    }

    /// Adds the existing directory at `path` to the chain.
    mutating func push(_ path: RelativePath, _ ending: Ending, wanted: Entry?) throws {
        let directory = try open(path)
        levels.append(Level(path: path, directory: directory, ending: ending, wanted: wanted))
    }

    /// Opens a directory so that names in it can be created and removed.
    ///
    /// - Throws: `RestoreProblem` for that directory, unless the error affects the whole restore.
    private func open(_ path: RelativePath) throws -> SharedDirectory {
        if path.isRoot {
            if !isRoot { try makeRootAccessible() }
            return root
        }
        do {
            // From the innermost open directory: the whole path is as long as the tree is deep.
            let below = levels.last.flatMap { last in last.path.suffix(of: path).map { (last.directory, $0) } }
            let (start, rest) = below ?? (root, path)
            try refuseMount(at: path, rest, from: start)
            if !isRoot { try makeAccessible(path, rest, from: start) }
            return SharedDirectory(try start.descriptor.open(beneath: rest, O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
        } catch {
            guard let problem = RestoreProblem(path, error, isOfDirectory: true) else { throw error }
            throw problem
        }
    }

    /// Refuses a directory on another mount, as captures do not enter it either.
    ///
    /// - Parameter rest: the path below `start`.
    private func refuseMount(at path: RelativePath, _ rest: RelativePath, from start: SharedDirectory) throws {
        if crossesMounts { return }
        guard let status = try FileStatus.read(rest, beneath: start.descriptor) else { return }
        if status.device == rootStatus.device, status.mount == rootStatus.mount { return }
        throw RestoreProblem(
            path, "\(path) is on another file system than the root; it and everything below it were not restored",
            remedy: Advice.unmount.text, isOfDirectory: true)
    }

    /// Gives a directory's owner access to it; its own permissions are set again with its metadata.
    ///
    /// - Parameter rest: the path below `start`.
    private func makeAccessible(_ path: RelativePath, _ rest: RelativePath, from start: SharedDirectory) throws {
        let place = try start.descriptor.openParent(of: rest)
        guard let status = try FileStatus.read(place.name, in: place.directory, path: path),
            status.kind == .directory, status.permissions & 0o700 != 0o700
        else { return }
        try place.directory.setPermissions(
            status.permissions | 0o700, of: place.name, path: FilePath(path))
    }

    private func makeRootAccessible() throws {
        let permissions = try FileStatus.read(root.descriptor).permissions
        if permissions & 0o700 == 0o700 { return }
        try root.descriptor.setPermissions(permissions | 0o700, path: FilePath(RelativePath.root))
    }
}
