// The exclusions in a root's directories: the root's rules and the directories' own ignore files.

package import Exclusions
package import FileIO
internal import Glibc
package import Roots
internal import SystemPackage

/// The exclusions in one directory.
package struct DirectoryScope {
    /// The exclusions of one set of ignore files.
    private struct Layer {
        var scope: ExclusionScope
        /// Whether the directory is tagged as a cache; only the tag is captured.
        var isCache = false
        /// Whether the directory itself, and so everything in it, is excluded.
        var isClosed = false

        func excludes(_ path: RelativePath, isDirectory: Bool) -> Bool {
            if isClosed || (isCache && !path.name.elementsEqual(DirectoryRules.cacheTagName)) { return true }
            return !scope.isTrivial && scope.excludes(path, isDirectory: isDirectory)
        }

        func entering(_ directory: RelativePath, _ own: DirectoryRules, isClosed: Bool) -> Layer {
            let inner = own.ignoreFiles.isEmpty ? scope : scope.adding(own.ignoreFiles, of: directory)
            return Layer(scope: inner, isCache: own.isCache, isClosed: isClosed)
        }
    }

    private let present: Layer
    /// The exclusions after a restore, if known: a path is excluded only if both layers exclude it.
    private let later: Layer?
    private let foreseen: ForeseenRules?

    private init(_ present: Layer, _ later: Layer?, _ foreseen: ForeseenRules?) {
        self.present = present
        self.later = later
        self.foreseen = foreseen
    }

    /// The exclusions that apply before the root's own ignore files.
    ///
    /// - Parameter foreseen: paths that are captured although the rules exclude them.
    package init(_ rules: ExclusionRules, _ foreseen: ForeseenRules? = nil) {
        let layer = Layer(scope: ExclusionScope(rules))
        self.init(layer, foreseen == nil ? nil : layer, foreseen)
    }

    package var rules: ExclusionRules { present.scope.rules }

    /// Whether no name is excluded.
    package var isTrivial: Bool { present.scope.isTrivial && !present.isCache && !present.isClosed }

    /// The scope of a directory in this one.
    ///
    /// - Parameter own: the directory's own rules.
    func entering(_ directory: RelativePath, _ own: DirectoryRules) -> DirectoryScope {
        guard let foreseen, let later else {
            return DirectoryScope(present.entering(directory, own, isClosed: false), nil, nil)
        }
        // The root itself is never excluded.
        func isClosed(_ layer: Layer) -> Bool { !directory.isRoot && layer.excludes(directory, isDirectory: true) }
        return DirectoryScope(
            present.entering(directory, own, isClosed: isClosed(present)),
            later.entering(directory, foreseen.own[directory] ?? own, isClosed: isClosed(later)), foreseen)
    }

    /// Whether `path` in the directory is excluded by the rules, or is one of archiver's own temporary files.
    package func excludes(_ path: RelativePath, isDirectory: Bool) -> Bool {
        if !isDirectory, path.bytes.last == UInt8(ascii: "p"), TemporaryFile.isTemporaryName(path.name) { return true }
        guard present.excludes(path, isDirectory: isDirectory) else { return false }
        guard let foreseen, let later else { return true }
        return !foreseen.includes(path, isDirectory: isDirectory) && later.excludes(path, isDirectory: isDirectory)
    }

    /// Whether an object with this status at `path` in the directory is excluded.
    package func excludes(_ path: RelativePath, _ status: FileStatus) -> Bool {
        if status.kind == .file, rules.excludes(fileOfSize: status.size),
            foreseen?.includes(path, isDirectory: false) != true
        {
            return true
        }
        return excludes(path, isDirectory: status.kind == .directory)
    }
}

/// Paths that a walk includes although the root's present rules exclude them: those that the user names in a restore,
/// and those that would no longer be excluded after it.
package struct ForeseenRules: Sendable {
    /// Paths that are included with everything below them.
    private let named: [RelativePath]
    /// The rules that directories will have after the restore, if those differ from the present ones.
    let own: [RelativePath: DirectoryRules]

    package init(named: [RelativePath] = [], own: [RelativePath: DirectoryRules] = [:]) {
        (self.named, self.own) = (named, own)
    }

    /// Whether the path is included in any case.
    package func includes(_ path: RelativePath, isDirectory: Bool) -> Bool {
        named.contains { $0.contains(path) || (isDirectory && path.contains($0)) }
    }
}

/// The scopes of a root's directories, for walks that start below the root.
package final class DirectoryScopes {
    private let root: RootDirectory
    private let rules: ExclusionRules
    private let foreseen: ForeseenRules?
    /// nil: the directory itself is excluded.
    private var known: [RelativePath: DirectoryScope?] = [:]

    package init(_ root: RootDirectory, _ rules: ExclusionRules, _ foreseen: ForeseenRules? = nil) {
        self.root = root
        self.rules = rules
        self.foreseen = foreseen
    }

    /// Returns the scope of `directory`; nil if the directory itself is excluded.
    ///
    /// - Throws: `FileError` if the directory does not exist or cannot be read.
    package func scope(of directory: RelativePath) throws(FileError) -> DirectoryScope? {
        if let known = known[directory] { return known }
        let scope = try read(directory)
        known[directory] = .some(scope)
        return scope
    }

    /// Returns the scope of `directory`, or that of the nearest directory above it that exists and can be read.
    ///
    /// - Returns: nil if that directory, or one on the way to `directory`, is excluded.
    package func nearestScope(of directory: RelativePath) throws(FileError) -> DirectoryScope? {
        do throws(FileError) { return try scope(of: directory) } catch {
            guard !error.isOfProcess, let parent = directory.parent else { throw error }
            var scope = try nearestScope(of: parent)
            if scope?.excludes(directory, isDirectory: true) == true { scope = nil }
            known[directory] = .some(scope)
            return scope
        }
    }

    private func read(_ directory: RelativePath) throws(FileError) -> DirectoryScope? {
        var outer = DirectoryScope(rules, foreseen)
        if let parent = directory.parent {
            guard let scope = try scope(of: parent), !scope.excludes(directory, isDirectory: true) else { return nil }
            outer = scope
        }
        let opened = try root.directory.descriptor.open(beneath: directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        return outer.entering(directory, DirectoryRules.read(in: opened, rules))
    }
}
