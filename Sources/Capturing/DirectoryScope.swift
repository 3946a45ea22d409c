// What is left out in a root's directories, as their own ignore files say.

package import Exclusions
package import FileIO
internal import Glibc
package import Roots
internal import SystemPackage

/// What is left out of one directory.
package struct DirectoryScope {
    /// What is left out by one set of ignore files.
    private struct Layer {
        var scope: ExclusionScope
        /// Whether the directory is tagged as a cache, of which only the tag is taken.
        var isCache = false
        /// Whether the directory itself is left out, and so all that is in it.
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
    /// What will be left out, where that is known: only what both leave out is.
    private let later: Layer?
    private let foreseen: ForeseenRules?

    private init(_ present: Layer, _ later: Layer?, _ foreseen: ForeseenRules?) {
        self.present = present
        self.later = later
        self.foreseen = foreseen
    }

    /// What is left out above the root's own ignore files.
    ///
    /// - Parameter foreseen: what is taken besides.
    package init(_ rules: ExclusionRules, _ foreseen: ForeseenRules? = nil) {
        let layer = Layer(scope: ExclusionScope(rules))
        self.init(layer, foreseen == nil ? nil : layer, foreseen)
    }

    package var rules: ExclusionRules { present.scope.rules }

    /// Whether nothing is left out because of its name.
    package var isTrivial: Bool { present.scope.isTrivial && !present.isCache && !present.isClosed }

    /// The scope of a directory in this one.
    ///
    /// - Parameter own: what the directory itself says.
    func entering(_ directory: RelativePath, _ own: DirectoryRules) -> DirectoryScope {
        guard let foreseen, let later else {
            return DirectoryScope(present.entering(directory, own, isClosed: false), nil, nil)
        }
        // The root is never left out itself.
        func isClosed(_ layer: Layer) -> Bool { !directory.isRoot && layer.excludes(directory, isDirectory: true) }
        return DirectoryScope(
            present.entering(directory, own, isClosed: isClosed(present)),
            later.entering(directory, foreseen.own[directory] ?? own, isClosed: isClosed(later)), foreseen)
    }

    /// Whether the name `path` in the directory is left out: by the rules, or because the file is one of archiver's own
    /// that is not complete, or was left behind.
    package func excludes(_ path: RelativePath, isDirectory: Bool) -> Bool {
        if !isDirectory, path.bytes.last == UInt8(ascii: "p"), TemporaryFile.isTemporaryName(path.name) { return true }
        guard present.excludes(path, isDirectory: isDirectory) else { return false }
        guard let foreseen, let later else { return true }
        return !foreseen.includes(path, isDirectory: isDirectory) && later.excludes(path, isDirectory: isDirectory)
    }

    /// Whether an object of this status at `path` in the directory is left out.
    package func excludes(_ path: RelativePath, _ status: FileStatus) -> Bool {
        if status.kind == .file, rules.excludes(fileOfSize: status.size),
            foreseen?.includes(path, isDirectory: false) != true
        {
            return true
        }
        return excludes(path, isDirectory: status.kind == .directory)
    }
}

/// What a capture takes although the root's present rules leave it out: a restore is about to alter it.
package struct ForeseenRules: Sendable {
    /// A path that is taken with all below it; nil for none.
    package var named: RelativePath?
    /// What directories will say about what is left out of them, where that is not what they say now.
    package var own: [RelativePath: DirectoryRules] = [:]

    package init(named: RelativePath?) { self.named = named }

    /// Whether the path is taken in any case.
    package func includes(_ path: RelativePath, isDirectory: Bool) -> Bool {
        guard let named else { return false }
        return named.contains(path) || (isDirectory && path.contains(named))
    }
}

/// The scopes of a root's directories, read where a walk does not come by them from above.
package final class DirectoryScopes {
    private let root: RootDirectory
    private let rules: ExclusionRules
    private let foreseen: ForeseenRules?
    /// nil: the directory itself is left out.
    private var known: [RelativePath: DirectoryScope?] = [:]

    package init(_ root: RootDirectory, _ rules: ExclusionRules, _ foreseen: ForeseenRules? = nil) {
        self.root = root
        self.rules = rules
        self.foreseen = foreseen
    }

    /// What is left out of `directory`; nil where it is left out itself.
    ///
    /// - Throws: `FileError` where there is no such directory, or it may not be read.
    package func scope(of directory: RelativePath) throws(FileError) -> DirectoryScope? {
        if let known = known[directory] { return known }
        let scope = try read(directory)
        known[directory] = .some(scope)
        return scope
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
