// What is left out in a root's directories, as their own ignore files say.

internal import Exclusions
internal import FileIO
internal import Glibc
internal import SystemPackage

/// What is left out of one directory.
struct DirectoryScope {
    private let scope: ExclusionScope
    /// Whether the directory is tagged as a cache, of which only the tag is taken.
    private let isCache: Bool

    private init(_ scope: ExclusionScope, isCache: Bool) {
        self.scope = scope
        self.isCache = isCache
    }

    /// What is left out above the root's own ignore files.
    init(_ rules: ExclusionRules) {
        self.init(ExclusionScope(rules), isCache: false)
    }

    var rules: ExclusionRules { scope.rules }

    /// Whether nothing is left out because of its name.
    var isTrivial: Bool { scope.isTrivial && !isCache }

    /// The scope of a directory in this one.
    ///
    /// - Parameter own: what the directory itself says.
    func entering(_ directory: RelativePath, _ own: DirectoryRules) -> DirectoryScope {
        let inner = own.ignoreFiles.isEmpty ? scope : scope.adding(own.ignoreFiles, of: directory)
        return DirectoryScope(inner, isCache: own.isCache)
    }

    /// Whether the name `path` in the directory is left out: by the rules, or because the file is one of archiver's own
    /// that is not complete, or was left behind.
    func excludes(_ path: RelativePath, isDirectory: Bool) -> Bool {
        if !isDirectory, path.bytes.last == UInt8(ascii: "p"), TemporaryFile.isTemporaryName(path.name) { return true }
        if isCache && !path.name.elementsEqual(DirectoryRules.cacheTagName) { return true }
        return !scope.isTrivial && scope.excludes(path, isDirectory: isDirectory)
    }

    /// Whether an object of this status at `path` in the directory is left out.
    func excludes(_ path: RelativePath, _ status: FileStatus) -> Bool {
        if status.kind == .file && rules.excludes(fileOfSize: status.size) { return true }
        return excludes(path, isDirectory: status.kind == .directory)
    }
}

/// The scopes of a root's directories, read where a walk does not come by them from above.
final class DirectoryScopes {
    private let root: RootDirectory
    private let rules: ExclusionRules
    /// nil: the directory itself is left out.
    private var known: [RelativePath: DirectoryScope?] = [:]

    init(_ root: RootDirectory, _ rules: ExclusionRules) {
        self.root = root
        self.rules = rules
    }

    /// What is left out of `directory`; nil where it is left out itself.
    ///
    /// - Throws: `FileError` where there is no such directory, or it may not be read.
    func scope(of directory: RelativePath) throws(FileError) -> DirectoryScope? {
        if let known = known[directory] { return known }
        let scope = try read(directory)
        known[directory] = .some(scope)
        return scope
    }

    private func read(_ directory: RelativePath) throws(FileError) -> DirectoryScope? {
        var outer = DirectoryScope(rules)
        if let parent = directory.parent {
            guard let scope = try scope(of: parent), !scope.excludes(directory, isDirectory: true) else { return nil }
            outer = scope
        }
        let opened = try root.directory.descriptor.open(beneath: directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        return outer.entering(directory, DirectoryRules.read(in: opened, rules))
    }
}
