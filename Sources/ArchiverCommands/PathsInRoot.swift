// Resolves paths inside a root relative to the current directory, as git does.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import Exclusions
internal import FileIO
internal import Glibc
internal import SystemPackage

/// Resolves the path arguments of commands that work in a root.
///
/// Every command with such a path uses this type, for paths after a selector (`latest:notes.txt`) and for paths alone:
///
///     let paths = context.paths(in: root)
///     let path = try paths.path(argument.bytes)
///
/// | written | means |
/// |---|---|
/// | `x`, `./x`, `../x`, `.` | relative to the current directory if that leads into the root; otherwise to the root's top |
/// | `:/x`, `:/` | relative to the root's top |
/// | `/home/ann/thesis/x` | this absolute path, which must be in the root |
/// | nothing (`latest:`) | the root's top |
///
/// If the command line names the root with `--root` or `--host`, paths are relative to the root's top, so that scripts
/// do not depend on the current directory. Symbolic links are not followed: links in a snapshot may have other targets
/// than on disk.
struct PathsInRoot {
    let root: FilePath
    /// The directory in the root that relative paths start from.
    let base: RelativePath
    /// The current directory if it is outside of the root; a relative path may lead from there into the root.
    private let outside: FilePath?

    /// - Parameter directory: the current directory, without symbolic links; nil to resolve relative paths from the
    ///   root's top.
    init(_ root: FilePath, from directory: FilePath?) {
        self.root = root
        let base = directory.flatMap { PathsInRoot.path($0, below: root) }
        self.base = base ?? .root
        outside = base == nil ? directory : nil
    }

    /// The path that `argument` names.
    ///
    /// - Throws: `Failure` if it is outside of the root or not a path.
    func path(_ argument: [UInt8]) throws -> RelativePath { try path(argument, isThere: isOnDisk) }

    /// The path that `argument` names, written literally or escaped as the program prints names (`bad\xff`).
    ///
    /// - Parameter isThere: whether a path exists, which decides between the two readings. If both exist, or neither,
    ///   the argument is read as escaped.
    func path(_ argument: [UInt8], isThere: (RelativePath) throws -> Bool) throws -> RelativePath {
        let literal = try literalPath(argument)
        let decoded = Escaping.bytes(ofName: argument)
        if decoded == argument { return literal }
        let printed = try literalPath(decoded)
        return try isThere(printed) || !isThere(literal) ? printed : literal
    }

    private func isOnDisk(_ path: RelativePath) -> Bool {
        var status = stat()
        return FilePath(bytes: root.bytes + [UInt8(ascii: "/")] + path.bytes).withPlatformString { lstat($0, &status) }
            == 0
    }

    private func literalPath(_ argument: [UInt8]) throws -> RelativePath {
        let slash = UInt8(ascii: "/")
        if argument.isEmpty { return .root }
        if argument.contains(0) { throw outside(argument) }
        if argument.first == slash { return try absolute(argument) }
        let isFromTop = argument.starts(with: ":/".utf8)
        if !isFromTop, let outside,
            let found = try? absolute(outside.pushing(FilePath(bytes: argument)).bytes)
        {
            return found
        }
        var components = isFromTop ? [] : base.components.map(Array.init)
        for component in (isFromTop ? argument.dropFirst(2) : argument[...]).split(separator: slash) {
            switch Array(component) {
            case Array(".".utf8): continue
            case Array("..".utf8):
                if components.popLast() == nil { throw outside(argument) }
            case let name: components.append(name)
            }
        }
        return RelativePath(unchecked: Array(components.joined(separator: [slash])))
    }

    /// The directory that a pattern is relative to, and the pattern from the root's top on.
    ///
    /// A pattern without a slash matches names at any depth of the current directory.
    func pattern(_ argument: [UInt8]) throws -> (base: RelativePath, pattern: [UInt8]) {
        let slash = UInt8(ascii: "/")
        guard argument.contains(slash) else { return (base, argument) }
        // The directory before the first wildcard is resolved like any path.
        let start = argument.firstIndex(where: Array("*?[".utf8).contains) ?? argument.endIndex
        let end = argument[..<start].lastIndex(of: slash)
        let directory = try end.map { try path($0 == 0 ? [slash] : Array(argument[..<$0])) } ?? base
        let rest = end.map { argument[($0 + 1)...] } ?? argument[...]
        return (directory, [slash] + (directory.isRoot ? [] : directory.bytes + [slash]) + rest)
    }

    /// The shortest argument for `path` from the current directory; it works alone and after `selector:`.
    func argument(for path: RelativePath) -> [UInt8] {
        if let outside {
            // From outside, an absolute path names the root as well; the path from the top does if the root is below.
            if root.starts(with: outside) { return path.isRoot ? Array(".".utf8) : path.bytes }
            return root.bytes + (path.isRoot ? [] : [UInt8(ascii: "/")] + path.bytes)
        }
        if base.isRoot || path.isRoot { return path.isRoot ? Array((base.isRoot ? "." : ":/").utf8) : path.bytes }
        guard let below = base.suffix(of: path), !below.isRoot else {
            return path == base ? Array(".".utf8) : Array(":/".utf8) + path.bytes
        }
        return below.bytes
    }

    private func absolute(_ argument: [UInt8]) throws -> RelativePath {
        let path = FilePath(bytes: argument).lexicallyNormalized()
        if let found = PathsInRoot.path(path, below: root) { return found }
        // The path to the root may contain symbolic links. The last component is not resolved, even if it is a link.
        guard let name = path.lastComponent else { throw outside(argument) }
        let parent = path.removingLastComponent().resolved
        guard
            let found = PathsInRoot.path(parent.appending(name), below: root)
                ?? PathsInRoot.path(path.resolved, below: root)
        else { throw outside(argument) }
        return found
    }

    /// `path` relative to `root`; nil if it is not in the root.
    private static func path(_ path: FilePath, below root: FilePath) -> RelativePath? {
        guard path.starts(with: root) else { return nil }
        return RelativePath(Array(path.bytes.dropFirst(root.bytes.count).drop { $0 == UInt8(ascii: "/") }))
    }

    private func outside(_ argument: [UInt8]) -> Failure {
        let name = Escaping.text(root.bytes)
        return Failure(
            status: .usage, code: ArchiverError.Code.noSuchPath.rawValue,
            message: "'\(Escaping.text(argument))' is outside of \(name)",
            remedy: "name a path in that directory; ':/PATH' is relative to its top", path: argument)
    }
}

extension RootContext {
    /// The resolver for path arguments in `root`.
    func paths(in root: ArchivedRoot) -> PathsInRoot {
        PathsInRoot(root.path, from: isExplicit || !root.isHere ? nil : FilePath.currentDirectory)
    }

    /// The paths that `arguments` name in `snapshot`: paths, and patterns such as `'*.md'`.
    ///
    /// - Throws: `Failure` if nothing matches a pattern.
    func paths(_ arguments: [ByteArgument], in snapshot: ListedSnapshot) throws -> [RelativePath] {
        try arguments.flatMap { argument in
            let inRoot = paths(in: snapshot.root)
            let path = try? inRoot.path(argument.bytes)
            if try !argument.isPattern || path.flatMap({ try archive.entry(at: $0, in: snapshot) }) != nil {
                return [try inRoot.path(argument.bytes)]
            }
            let (base, pattern) = try inRoot.pattern(argument.bytes)
            let found = try archive.entries(matching: pattern, in: snapshot).map(\.path).filter(base.contains)
            if found.isEmpty {
                throw Failure(
                    status: .failed, code: ArchiverError.Code.noSuchPath.rawValue,
                    message: "no name in snapshot \(snapshot.id.short) matches '\(Escaping.text(argument.bytes))'",
                    remedy: "'archiver find' searches for names in all snapshots", path: argument.bytes)
            }
            // What is in a directory that matches belongs to it.
            return found.filter { path in !found.contains { $0 != path && $0.contains(path) } }
        }
    }

    /// The paths that a `selector:path` and the arguments after it name in `snapshot`.
    ///
    /// - Parameter path: the path after the colon, if there is one; it is a pattern if `snapshot` has no such path.
    func paths(
        _ selector: ByteArgument, at path: RelativePath?, _ arguments: [ByteArgument], in snapshot: ListedSnapshot
    ) throws -> [RelativePath] {
        let others = try paths(arguments, in: snapshot)
        guard let path else { return others }
        guard let pattern = try pattern(selector, at: path, in: [snapshot]) else { return [path] + others }
        return try paths([pattern], in: snapshot) + others
    }

    /// The pattern after the colon of a `selector:path`; nil if it is a path, or one of `snapshots` has such a path.
    func pattern(
        _ selector: ByteArgument, at path: RelativePath, in snapshots: [ListedSnapshot]
    ) throws -> ByteArgument? {
        guard let written = selector.pathAfterColon.first.map(ByteArgument.init), written.isPattern,
            try snapshots.allSatisfy({ try archive.entry(at: path, in: $0) == nil })
        else { return nil }
        return written
    }

    /// What a `selector:path` selects: `path` and everything below it, or what a pattern matches.
    func scope(
        _ selector: ByteArgument, at path: RelativePath, in snapshots: [ListedSnapshot]
    ) throws -> PathScope {
        guard let written = try pattern(selector, at: path, in: snapshots), let first = snapshots.first else {
            return PathScope(path: path)
        }
        let (base, pattern) = try paths(in: first.root).pattern(written.bytes)
        guard let names = NamePattern(pattern) else { return PathScope(path: path) }
        return PathScope(path: base, names: names, written: written)
    }
}

/// A part of a tree: a path with everything below it, or what a pattern matches below a directory.
struct PathScope {
    let path: RelativePath
    /// Nil for everything.
    var names: NamePattern?
    /// The pattern as written.
    var written: ByteArgument?

    /// Whether it contains `path`, or a directory that holds it.
    func contains(_ path: RelativePath, isDirectory: Bool) -> Bool {
        guard let names else { return true }
        var (current, isDirectory) = (path, isDirectory)
        while !current.isRoot {
            if names.matches(current.bytes, isDirectory: isDirectory) { return true }
            guard let parent = current.parent else { return false }
            (current, isDirectory) = (parent, true)
        }
        return false
    }
}
