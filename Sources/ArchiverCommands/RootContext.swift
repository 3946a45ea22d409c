// The root of a command: the one named with --root, else the one that contains the current directory, else all roots.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import SystemPackage

/// The archive and root that a command works on.
///
/// The root is the one that the command line names with `--root` or `--host`; else the innermost one that holds the
/// command's paths; else the innermost one that holds the current directory; else the only one inside the current
/// directory. It is never one that merely happens to be the archive's only one.
struct RootContext {
    let archive: Archive
    /// Nil for all roots.
    let root: ArchivedRoot?
    /// Whether the command line names the root or its machine with an option.
    let isExplicit: Bool
    /// Whether the command line names the root with an option or a path.
    let isNamed: Bool
    /// Whether the root is inside the current directory, and nothing else names it.
    private let isBelow: Bool

    /// - Parameters:
    ///   - paths: the paths of the command as written, without selectors.
    ///   - ofAllRoots: whether to ignore the current directory.
    init(_ archive: Archive, _ options: RootOptions, paths: [[UInt8]] = [], ofAllRoots: Bool = false) throws {
        try self.init(archive, options.root, onHost: options.host, paths: paths, ofAllRoots: ofAllRoots)
    }

    /// - Parameters:
    ///   - directory: the root that the command line names.
    ///   - host: the machine that the command line names.
    ///   - paths: the paths of the command as written, without selectors.
    ///   - ofAllRoots: whether to ignore the current directory.
    init(
        _ archive: Archive, _ directory: PathArgument?, onHost host: String? = nil, paths: [[UInt8]] = [],
        ofAllRoots: Bool = false
    ) throws {
        self.archive = archive
        isExplicit = directory != nil || host != nil
        if let directory = directory?.path.resolved {
            (root, isNamed, isBelow) = (try RootContext.root(at: directory, onHost: host, in: archive), true, false)
        } else if let host {
            (root, isNamed, isBelow) = (try RootContext.root(onHost: host, in: archive), true, false)
        } else if ofAllRoots {
            (root, isNamed, isBelow) = (nil, false, false)
        } else if let found = try RootContext.root(holding: paths, in: archive) {
            (root, isNamed, isBelow) = (found, true, false)
        } else if let found = try FilePath.currentDirectory.flatMap({ try archive.root(holding: $0) }) {
            (root, isNamed, isBelow) = (found, false, false)
        } else if let absolute = paths.first(where: { $0.first == UInt8(ascii: "/") }) {
            throw Failure(
                status: .failed, code: "noSuchRoot",
                message: "the archive holds no snapshots of \(Escaping.text(absolute))",
                remedy: RootContext.place(of: absolute).flatMap { RootContext.hint($0, archive) }
                    ?? "'archiver roots' lists the roots", path: absolute)
        } else {
            root = try RootContext.root(below: FilePath.currentDirectory, in: archive)
            (isNamed, isBelow) = (false, root != nil)
        }
    }

    /// The innermost root that holds all of `paths` that are in a root; nil if none of them is.
    ///
    /// - Throws: `Failure` if they are in different roots.
    private static func root(holding paths: [[UInt8]], in archive: Archive) throws -> ArchivedRoot? {
        var found: (root: ArchivedRoot, path: [UInt8])?
        for path in paths {
            guard let place = place(of: path), let root = try archive.root(holding: place) else { continue }
            if let found, found.root != root {
                throw Failure.usage(
                    "'\(Escaping.text(found.path))' and '\(Escaping.text(path))' are in different roots",
                    remedy: "name paths of one root")
            }
            found = (root, path)
        }
        return found?.root
    }

    /// Where a path argument is on disk, with links resolved in the directory that holds it; nil for one that is
    /// relative to a root's top.
    private static func place(of argument: [UInt8]) -> FilePath? {
        if argument.isEmpty || argument.starts(with: ":/".utf8) || argument.contains(0) { return nil }
        var path = FilePath(bytes: argument)
        if !path.isAbsolute {
            guard let present = FilePath.currentDirectory else { return nil }
            path = present.pushing(path)
        }
        path = path.lexicallyNormalized()
        guard let name = path.lastComponent else { return path }
        return path.removingLastComponent().resolved.appending(name)
    }

    /// The only root of this machine inside `directory`; nil if there is none or there are several.
    private static func root(below directory: FilePath?, in archive: Archive) throws -> ArchivedRoot? {
        guard let directory else { return nil }
        let roots = try archive.roots().filter { $0.isHere && $0.path.starts(with: directory) }
        return roots.count == 1 ? roots.first : nil
    }

    /// The root at exactly `directory`; not one that contains it, because a typing error would then restore that root.
    static func root(at directory: FilePath, onHost host: String? = nil, in archive: Archive) throws -> ArchivedRoot {
        let roots = try archive.roots().filter { $0.path == directory }
        let name = Escaping.text(directory.bytes)
        if let host {
            let found = roots.filter { $0.isOn(host) }
            if let only = found.first, found.count == 1 { return only }
            guard found.isEmpty else { throw RootContext.ambiguousHost(host, found) }
            throw Failure(
                status: .failed, code: "noSuchRoot",
                message: "the archive holds no snapshots of \(name) on the machine '\(host)'",
                remedy: "'archiver roots' lists the roots and their machines", path: directory.bytes)
        }
        if let here = roots.first(where: \.isHere) { return here }
        // A path that is a root only on another machine names that root.
        if let only = roots.first, roots.count == 1 { return only }
        if roots.count > 1 { throw RootContext.ambiguity(name, roots, remedy: "name its machine with --host") }
        if let moved = try archive.root(movedFrom: directory) {
            throw Failure(
                status: .failed, code: "noSuchRoot",
                message: "\(name) was moved: its history is at \(Escaping.text(moved.path.bytes)) now",
                remedy: "name that one", path: directory.bytes)
        }
        let holding = try archive.root(holding: directory)
        throw Failure(
            status: .failed, code: "noSuchRoot", message: "the archive holds no snapshots of \(name)",
            remedy: holding.map { "it is inside the root \(Escaping.text($0.path.bytes)): name that one" }
                ?? hint(directory, archive) ?? "'archiver list --all' lists all snapshots", path: directory.bytes)
    }

    /// The only root on a machine.
    private static func root(onHost host: String, in archive: Archive) throws -> ArchivedRoot {
        let found = try archive.roots().filter { $0.isOn(host) }
        if found.count > 1 { throw ambiguity("the command", found, remedy: "name one with --root DIR") }
        guard let only = found.first else {
            throw Failure(
                status: .failed, code: "noSuchRoot",
                message: "the archive holds no snapshots of a machine '\(Escaping.text(host))'",
                remedy: "'archiver roots' lists the roots and their machines")
        }
        return only
    }

    private static func ambiguousHost(_ host: String, _ roots: [ArchivedRoot]) -> Failure {
        let ids = roots.map(\.machine.short).joined(separator: ", ")
        return Failure.usage(
            "several machines have the name '\(Escaping.text(host))'", remedy: "name one by its id: \(ids)")
    }

    /// The snapshot that `selector` names in the root.
    ///
    /// Ids and labels are also searched in other roots, unless the command line names the root.
    func snapshot(_ selector: SnapshotSelector) throws -> ListedSnapshot {
        do {
            return try archive.snapshot(selector, of: root)
        } catch {
            let mayBeElsewhere = root != nil && !isExplicit && !selector.isRelative
            guard error.code == .noSuchSnapshot, mayBeElsewhere else { throw error }
            return try archive.snapshot(selector)
        }
    }

    /// The snapshot or saved state that `selector` names; only snapshots if the command line names a root.
    func selected(_ selector: SnapshotSelector) throws -> Selection {
        if isExplicit { return .snapshot(try snapshot(selector)) }
        return try archive.selected(selector, of: root, orElsewhere: true)
    }

    /// The snapshot that `selector` names; a relative selector is resolved in the root of `other`.
    func snapshot(_ selector: SnapshotSelector, besides other: ListedSnapshot) throws -> ListedSnapshot {
        guard selector.isRelative else { return try snapshot(selector) }
        let root = try archive.roots().first { $0.path.bytes == other.rootPath && $0.machine == other.machine }
        return try archive.snapshot(selector, of: root)
    }

    /// Throws if a relative selector such as `latest` could refer to several roots.
    func requireOneRoot(for selector: SnapshotSelector) throws {
        if root == nil, selector.isRelative { throw try noRoot("\(selector)") }
    }

    /// The failure if no root is named and the current directory is in none.
    ///
    /// - Parameter what: what could mean any of several roots.
    func noRoot(_ what: String) throws -> Failure {
        let roots = try archive.roots()
        if roots.count > 1 { return RootContext.ambiguity(what, roots, remedy: "name one with --root DIR") }
        guard let only = roots.first else {
            return Failure(
                status: .failed, code: "noSuchRoot", message: "the archive holds no snapshots",
                remedy: "'archiver watch DIR' makes them")
        }
        return Failure.usage(
            "no root is named, and the current directory is not in \(Escaping.text(only.path.bytes))",
            remedy: RootContext.hint(FilePath.currentDirectory, archive)
                ?? "name it with '--root \(ShellWord.text(only.path.bytes))', or change into it")
    }

    /// The root for a command that needs exactly one: the named root, or the one that contains the current directory.
    ///
    /// - Throws: `Failure` if no root is named and none contains the current directory.
    func oneRoot() throws -> ArchivedRoot {
        if let root, !isBelow { return root }
        throw try noRoot("the command")
    }

    /// The directory to restore `snapshot` into: the named root, else its own root.
    ///
    /// - Throws: `Failure` if no root is named, and the snapshot's root is on another machine or does not contain the
    ///   current directory.
    func place(of snapshot: ListedSnapshot) throws -> FilePath {
        if isExplicit, let root { return root.path }
        let own = snapshot.root
        if isNamed, root == own { return own.path }
        if snapshot.isOfThisMachine, let present = FilePath.currentDirectory, present.starts(with: own.path) {
            return own.path
        }
        let name = Escaping.text(own.path.bytes)
        let whose = snapshot.isOfThisMachine ? "and you are not in it" : "on another machine, \(own.host)"
        throw Failure(
            status: .usage, code: ArchiverError.Code.otherRoot.rawValue,
            message: "snapshot \(snapshot.id.short) belongs to \(name), \(whose)",
            remedy: "restore that directory with '--root \(ShellWord.text(own.path.bytes))', "
                + "or elsewhere with '--target DIR'", path: own.path.bytes)
    }

    /// The entry at `path`.
    ///
    /// - Throws: `Failure` if the snapshot has none.
    func requiredEntry(at path: RelativePath, in snapshot: ListedSnapshot) throws -> Entry {
        if let entry = try archive.entry(at: path, in: snapshot) { return entry }
        throw try absence(of: path, snapshot)
    }

    /// The error for `path`, which is not in `snapshot`.
    ///
    /// It says whether the path was deleted, renamed or added later, and suggests `:/` if the path from the root's top
    /// exists.
    func absence(of path: RelativePath, _ snapshot: ListedSnapshot) throws -> Failure {
        var failure = Absence.failure(path, in: snapshot, self)
        if let remedy = try meantFromTop(path, snapshot) { failure.remedy = remedy }
        return failure
    }

    /// `error`, replaced by a more detailed one if it reports that `path` is not in `snapshot`.
    func explained(_ error: any Error, _ path: RelativePath, _ snapshot: ListedSnapshot) throws -> any Error {
        guard Failure(error)?.code == ArchiverError.Code.noSuchPath.rawValue,
            try archive.entry(at: path, in: snapshot) == nil
        else { return error }
        return try absence(of: path, snapshot)
    }

    /// The remedy if `path` exists when resolved from the root's top; nil otherwise.
    private func meantFromTop(_ path: RelativePath, _ snapshot: ListedSnapshot) throws -> String? {
        let base = paths(in: snapshot.root).base
        guard !base.isRoot, let fromTop = base.suffix(of: path), !fromTop.isRoot,
            try archive.entry(at: fromTop, in: snapshot) != nil
        else { return nil }
        return
            "paths are relative to the current directory: write '\(ShellWord.text(Array(":/".utf8) + fromTop.bytes))' for a path from the top"
    }

    /// Prints a heading for a person that names the root, or all roots, whose `things` are listed.
    func reportWhich(_ things: String, _ console: Console) {
        guard console.isForPerson, !console.isQuiet else { return }
        let which = root.map { Escaping.text($0.path.bytes) } ?? "all roots"
        try? console.output.line(console.style(.dim, "\(things) of \(which)"))
        if root == nil, let hint = RootContext.hint(FilePath.currentDirectory, archive) { console.remark(hint) }
    }

    /// A hint that `directory` is in a root that was moved; nil if it is not.
    private static func hint(_ directory: FilePath?, _ archive: Archive) -> String? {
        guard let directory, let moved = try? archive.movedRoot(holding: directory) else { return nil }
        return
            "this directory was at \(Escaping.text(moved.path.bytes)) before: the next 'archiver capture' or 'watch' "
            + "goes on with its history"
    }

    /// The argument that makes a command use `root`, with a leading blank; empty inside `root`.
    func word(for root: FilePath) throws -> String {
        let present = try FilePath.currentDirectory.flatMap { try archive.root(holding: $0) }
        return present?.path == root ? "" : " " + ShellWord.text(root.bytes)
    }

    private static func ambiguity(_ what: String, _ roots: [ArchivedRoot], remedy: String) -> Failure {
        let machines = Set(roots.map(\.machine)).count
        let names = roots.prefix(5).map { root in
            Escaping.text(root.path.bytes) + (machines > 1 ? " on \(Escaping.text(root.host))" : "")
        }.joined(separator: ", ")
        let more = roots.count > 5 ? " and \(roots.count - 5) more" : ""
        return Failure.usage(
            "\(what) could mean any of \(roots.count) roots: \(names)\(more)", remedy: remedy + ", or change into it")
    }
}

extension ArchivedRoot {
    /// Whether `host` is the name of the root's machine or the beginning of the machine's id.
    fileprivate func isOn(_ host: String) -> Bool {
        self.host == host || host.count >= 4 && machine.hex.hasPrefix(host.lowercased())
    }
}

/// A selector and the path after its colon, as given.
struct SnapshotPath {
    let selector: SnapshotSelector
    /// The path as written, for `PathsInRoot`; nil if none was given.
    let path: [UInt8]?

    init(_ argument: ByteArgument) throws {
        let parts = try SnapshotSelector.split(argument.bytes)
        selector = parts.selector
        path = parts.path.map(Array.init)
    }

    /// The selector alone.
    ///
    /// - Throws: `Failure` if a path was given.
    func withoutPath(_ purpose: String) throws -> SnapshotSelector {
        guard path == nil else {
            throw Failure.usage(
                "\(purpose) takes a selector without a path", remedy: "leave out the colon and the path")
        }
        return selector
    }
}
