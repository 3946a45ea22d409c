// The root of a command: the one named with --root, else the one that contains the current directory, else all roots.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import SystemPackage

/// The archive and root that a command works on.
struct RootContext {
    let archive: Archive
    /// Nil for all roots.
    let root: ArchivedRoot?
    /// Whether the command line names the root or its machine.
    let isExplicit: Bool

    /// - Parameter ofAllRoots: whether to ignore the current directory.
    init(_ archive: Archive, _ options: RootOptions, ofAllRoots: Bool = false) throws {
        try self.init(archive, options.root, onHost: options.host, ofAllRoots: ofAllRoots)
    }

    /// - Parameters:
    ///   - directory: the root that the command line names.
    ///   - host: the machine that the command line names.
    ///   - ofAllRoots: whether to ignore the current directory.
    init(_ archive: Archive, _ directory: PathArgument?, onHost host: String? = nil, ofAllRoots: Bool = false) throws {
        self.archive = archive
        isExplicit = directory != nil || host != nil
        if let directory = directory?.path.resolved {
            root = try RootContext.root(at: directory, onHost: host, in: archive)
        } else if let host {
            root = try RootContext.root(onHost: host, in: archive)
        } else {
            root = ofAllRoots ? nil : try FilePath.currentDirectory.flatMap { try archive.root(holding: $0) }
        }
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
        guard root == nil, selector.isRelative else { return }
        let roots = try archive.roots()
        if roots.count > 1 {
            throw RootContext.ambiguity("\(selector)", roots, remedy: "name one with --root DIR")
        }
    }

    /// The root for a command that needs exactly one: the named root, or the one that contains the current directory.
    ///
    /// - Throws: `Failure` if no root is named and none contains the current directory.
    func oneRoot() throws -> ArchivedRoot {
        if let root { return root }
        let roots = try archive.roots()
        if roots.count > 1 { throw RootContext.ambiguity("the command", roots, remedy: "name the directory") }
        guard let only = roots.first else {
            throw Failure(
                status: .failed, code: "noSuchRoot", message: "the archive holds no snapshots",
                remedy: "'archiver watch DIR' makes them")
        }
        throw Failure.usage(
            "no directory is named, and the current directory is not in \(Escaping.text(only.path.bytes))",
            remedy: RootContext.hint(FilePath.currentDirectory, archive)
                ?? "name that directory, or change into it")
    }

    /// The directory to restore `snapshot` into: the named root, else its own root.
    ///
    /// - Throws: `Failure` if no root is named, and the snapshot's root is on another machine or does not contain the
    ///   current directory.
    func place(of snapshot: ListedSnapshot) throws -> FilePath {
        if isExplicit, let root { return root.path }
        let own = snapshot.root
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
            "paths are relative to the current directory: write ':/\(Escaping.text(fromTop))' for a path from the top"
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
