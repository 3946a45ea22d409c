// Which root's snapshots a command means: the one it is told, else the one the user stands in, else all.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import SystemPackage

/// The root a command is about.
struct RootContext {
    let archive: Archive
    /// nil: all roots.
    let root: ArchivedRoot?
    /// Whether it is the one that the command line names.
    let isExplicit: Bool

    /// - Parameter ofAllRoots: whether the current directory shall not count.
    init(_ archive: Archive, _ options: RootOptions, ofAllRoots: Bool = false) throws {
        try self.init(archive, options.root, onHost: options.host, ofAllRoots: ofAllRoots)
    }

    /// - Parameters:
    ///   - directory: the root that the command line names.
    ///   - host: the machine that it names.
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

    /// The root `directory`: not one that merely holds it, which a slip of the pen would restore.
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
        // Whoever names a root of another machine means it.
        if let only = roots.first, roots.count == 1 { return only }
        if roots.count > 1 { throw RootContext.ambiguity(name, roots, remedy: "say which machine's with --host") }
        let holding = try archive.root(holding: directory)
        throw Failure(
            status: .failed, code: "noSuchRoot", message: "the archive holds no snapshots of \(name)",
            remedy: holding.map { "those of \(Escaping.text($0.path.bytes)) hold it: name that one" }
                ?? "'archiver list --all' shows what it holds", path: directory.bytes)
    }

    /// The only root on a machine.
    private static func root(onHost host: String, in archive: Archive) throws -> ArchivedRoot {
        let found = try archive.roots().filter { $0.isOn(host) }
        if found.count > 1 { throw ambiguity("this", found, remedy: "say which one with --root DIR") }
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
            "several machines are called '\(Escaping.text(host))'", remedy: "name one by its id: \(ids)")
    }

    /// The snapshot that `selector` names here; one named by id or label is found in other roots too.
    func snapshot(_ selector: SnapshotSelector) throws -> ListedSnapshot {
        do {
            return try archive.snapshot(selector, of: root)
        } catch {
            let mayBeElsewhere = root != nil && !isExplicit && !selector.isRelative
            guard error.code == .noSuchSnapshot, mayBeElsewhere else { throw error }
            return try archive.snapshot(selector)
        }
    }

    /// What `selector` names: snapshots and saved states are looked at, unless the command line names a root.
    func selected(_ selector: SnapshotSelector) throws -> Selected {
        if isExplicit { return .snapshot(try snapshot(selector)) }
        return try archive.selected(selector, of: root, orElsewhere: true)
    }

    /// The snapshot that `selector` names of the root that `other` is of.
    func snapshot(_ selector: SnapshotSelector, besides other: ListedSnapshot) throws -> ListedSnapshot {
        guard selector.isRelative else { return try snapshot(selector) }
        let root = try archive.roots().first { $0.path.bytes == other.rootPath && $0.machine == other.machine }
        return try archive.snapshot(selector, of: root)
    }

    /// Refuses a selector such as `latest` where it could be about any of several roots.
    func requireOneRoot(for selector: SnapshotSelector) throws {
        guard root == nil, selector.isRelative else { return }
        let roots = try archive.roots()
        if roots.count > 1 {
            throw RootContext.ambiguity("\(selector)", roots, remedy: "say which one with --root DIR")
        }
    }

    /// The root that a command is about which alters one: it is named, or the user stands in it.
    func oneRoot() throws -> ArchivedRoot {
        if let root { return root }
        let roots = try archive.roots()
        if roots.count > 1 { throw RootContext.ambiguity("this", roots, remedy: "name the directory") }
        guard let only = roots.first else {
            throw Failure(
                status: .failed, code: "noSuchRoot", message: "the archive holds no snapshots",
                remedy: "'archiver watch DIR' makes them")
        }
        throw Failure.usage(
            "no directory is named, and you are not in \(Escaping.text(only.path.bytes))",
            remedy: "name that directory, or change into it")
    }

    /// The root that `snapshot` may be put into: the one that is named, else its own where the user stands in it.
    func place(of snapshot: ListedSnapshot) throws -> FilePath {
        if isExplicit, let root { return root.path }
        let own = snapshot.root
        if snapshot.isOfThisMachine, let present = FilePath.currentDirectory, present.starts(with: own.path) {
            return own.path
        }
        let name = Escaping.text(own.path.bytes)
        let whose = snapshot.isOfThisMachine ? "where you are not" : "on another machine, \(own.host)"
        throw Failure(
            status: .usage, code: ArchiverError.Code.otherRoot.rawValue,
            message: "snapshot \(snapshot.id.short) is of \(name), \(whose)",
            remedy: "restore that directory with '--root \(ShellWord.text(own.path.bytes))', "
                + "or elsewhere with '--target DIR'", path: own.path.bytes)
    }

    /// The entry at `path`.
    ///
    /// - Throws: `Failure` where there is none.
    func requiredEntry(at path: RelativePath, in record: ListedSnapshot) throws -> Entry {
        if let entry = try archive.entry(at: path, in: record) { return entry }
        throw try absence(of: path, record)
    }

    /// The error for `path`, which `record` does not hold: says where it was last, or that it was meant from the top.
    func absence(of path: RelativePath, _ record: ListedSnapshot) throws -> Failure {
        var failure = Absence.failure(path, in: record, self)
        if let remedy = try meantFromTop(path, record) { failure.remedy = remedy }
        return failure
    }

    /// `error`, with more to say where it is that `record` does not hold `path`.
    func explained(_ error: any Error, _ path: RelativePath, _ record: ListedSnapshot) throws -> any Error {
        guard Failure(error)?.code == ArchiverError.Code.noSuchPath.rawValue,
            try archive.entry(at: path, in: record) == nil
        else { return error }
        return try absence(of: path, record)
    }

    /// What to do where `path` was meant from the root's top; nil where that is not so.
    private func meantFromTop(_ path: RelativePath, _ record: ListedSnapshot) throws -> String? {
        let base = paths(in: record.root).base
        guard !base.isRoot, let fromTop = base.suffix(of: path), !fromTop.isRoot,
            try archive.entry(at: fromTop, in: record) != nil
        else { return nil }
        return
            "paths are relative to the current directory: write ':/\(Escaping.text(fromTop))' for the one from the top"
    }

    /// Says to a person whether `things` of one root or of all are listed.
    func reportWhich(_ things: String, _ console: Console) {
        guard console.isForPerson, !console.isQuiet else { return }
        let which = root.map { Escaping.text($0.path.bytes) } ?? "all roots"
        try? console.output.line(console.style(.dim, "\(things) of \(which)"))
    }

    /// What has to follow a command's name so that it is about `root`: nothing where the user stands in it.
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
            "\(what) could be of any of \(roots.count) roots: \(names)\(more)", remedy: remedy + ", or change into it")
    }
}

extension ArchivedRoot {
    /// Whether `host` is the name of its machine or the beginning of that one's id.
    fileprivate func isOn(_ host: String) -> Bool {
        self.host == host || host.count >= 4 && machine.hex.hasPrefix(host.lowercased())
    }
}

/// A selector with the path behind its colon, as given.
struct SnapshotPath {
    let selector: SnapshotSelector
    /// As the user wrote it, for `PathsInRoot`; nil where no path was given.
    let path: [UInt8]?

    init(_ argument: ByteArgument) throws {
        let parts = try SnapshotSelector.split(argument.bytes)
        selector = parts.selector
        path = parts.path.map(Array.init)
    }

    /// The selector alone.
    ///
    /// - Throws: `Failure` where a path was given.
    func withoutPath(_ purpose: String) throws -> SnapshotSelector {
        guard path == nil else {
            throw Failure.usage(
                "\(purpose) takes a selector without a path", remedy: "leave out what follows the colon")
        }
        return selector
    }
}
