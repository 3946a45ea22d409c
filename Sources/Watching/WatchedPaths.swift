// The directories that a service watches: each once, and without those that another one covers.

internal import ArchiveStorage
internal import Archives
internal import Capturing
internal import Exclusions
internal import FileIO
internal import FileWatching
internal import Roots
internal import SystemPackage

/// The given paths, resolved and without duplicates.
struct WatchedPaths {
    /// The paths to watch: absolute, with symbolic links resolved in the existing part.
    private(set) var paths: [FilePath] = []
    /// Roots inside other roots that capture them.
    private(set) var covered: [(inner: FilePath, outer: FilePath)] = []

    /// - Parameters:
    ///   - isTolerant: whether a path that cannot be a root now stays among the paths.
    ///   - rules: returns the exclusion rules of a root.
    /// - Throws: `ArchiverError` if one of the paths cannot be a root.
    init(
        _ given: [FilePath], _ options: WatchService.Options, _ archive: Archive, isTolerant: Bool = false,
        rules: (FilePath) throws -> ExclusionRules
    ) throws {
        var roots: [FilePath: RootDirectory?] = [:]
        for path in given {
            let (resolved, root): (FilePath, RootDirectory?)
            do { (resolved, root) = try WatchedPaths.open(path, options, archive) } catch {
                guard isTolerant else { throw error }
                (resolved, root) = (path, nil)
            }
            if roots.updateValue(root, forKey: resolved) == nil { paths.append(resolved) }
        }
        for inner in paths {
            guard let outer = WatchedPaths.innermost(of: roots, above: inner), let root = roots[outer] ?? nil else {
                continue
            }
            if try WatchedPaths.captures(root, inner, roots[inner] ?? nil, rules(outer)) {
                covered.append((inner, outer))
            }
        }
        let inners = Set(covered.map(\.inner))
        paths.removeAll(where: inners.contains)
    }

    /// The nearest of `roots` above `path`; the cost grows with the depth of `path`, not with the number of roots.
    private static func innermost(of roots: [FilePath: RootDirectory?], above path: FilePath) -> FilePath? {
        var above = path
        while above.removeLastComponent() {
            if roots[above] != nil { return above }
        }
        return nil
    }

    /// - Returns: the root's real path and its directory; no directory if the service waits for it.
    static func open(
        _ path: FilePath, _ options: WatchService.Options, _ archive: Archive
    ) throws -> (FilePath, RootDirectory?) {
        do {
            let root = try RootDirectory.open(path, capturedInto: archive.directory)
            return (root.path, root)
        } catch let error as ArchiverError {
            guard error.code == .noSuchDirectory else { throw error }
            guard options.waitsForRoots else {
                throw ArchiverError(
                    error.code, error.message, remedy: Advice.waitForRoot.text,
                    path: error.path)
            }
            let resolved = try RootDirectory.resolvedAsFarAsItExists(path)
            try RootDirectory.checkIsOutside(archive.directory, resolved, as: path)
            return (resolved, nil)
        }
    }

    /// Whether a capture of `outer` contains `inner`.
    static func captures(
        _ outer: RootDirectory, _ inner: FilePath, _ root: RootDirectory?, _ rules: ExclusionRules
    ) throws -> Bool {
        guard let root else { return false }
        let isSameMount = root.status.device == outer.status.device && root.status.mount == outer.status.mount
        guard isSameMount || rules.crossesMounts else { return false }
        var rest = inner
        guard rest.removePrefix(outer.path), let below = RelativePath(rest.bytes) else { return false }
        return try DirectoryScopes(outer, rules).scope(of: below) != nil
    }
}
