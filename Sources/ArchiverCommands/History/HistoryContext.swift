// Shared parts of the history commands: the root, the index update, errors and reports of damage.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import TextDiff

/// The root whose history a command reads.
struct HistoryContext {
    let context: RootContext
    let root: ArchivedRoot
    let console: Console

    var archive: Archive { context.archive }

    /// Whether rows of several roots are shown together, so that paths are absolute.
    let isOneOfAll: Bool

    /// - Parameters:
    ///   - paths: the command's paths as written, which choose the root.
    ///   - isPaged: whether to start a pager on a terminal.
    init(_ global: GlobalOptions, _ place: RootOptions, paths: [[UInt8]] = [], isPaged: Bool = true) throws {
        console = Console(global)
        context = try RootContext(global.openArchive(), place, paths: paths)
        guard let root = context.root else { throw try context.noRoot("the command") }
        self.root = root
        isOneOfAll = false
        if isPaged { Pager.start(console, global) }
    }

    init(_ context: RootContext, _ root: ArchivedRoot, _ console: Console, isOneOfAll: Bool = false) {
        (self.context, self.root, self.console) = (context, root, console)
        self.isOneOfAll = isOneOfAll
    }

    /// The root that the options choose, or each of all roots.
    static func each(
        _ global: GlobalOptions, _ scope: ScopeOptions, paths: [[UInt8]], isPaged: Bool = true
    ) throws -> [HistoryContext] {
        guard scope.all else { return [try HistoryContext(global, scope.place, paths: paths, isPaged: isPaged)] }
        if let path = paths.first {
            throw Failure.usage(
                "'\(Escaping.text(path))' is a path in one root", remedy: "leave out the path, or --all")
        }
        let console = Console(global)
        let context = try RootContext(global.openArchive(), scope.place, ofAllRoots: true)
        let roots = try context.archive.roots()
        if roots.isEmpty { throw try context.noRoot("the command") }
        if isPaged { Pager.start(console, global) }
        return roots.map { HistoryContext(context, $0, console, isOneOfAll: true) }
    }

    /// A path as it is shown: absolute if rows of several roots are shown together.
    func shown(_ path: RelativePath) -> String {
        guard isOneOfAll else { return Escaping.text(path) }
        return Escaping.text(path.isRoot ? root.path.bytes : root.path.bytes + [UInt8(ascii: "/")] + path.bytes)
    }

    /// The path that an argument names; the root's top without an argument.
    func path(_ argument: ByteArgument?) throws -> RelativePath {
        try context.paths(in: root).path(argument?.bytes ?? [])
    }

    /// Runs `body`, which may first compare snapshots to update the index, and shows the progress of that.
    func indexing<Result>(_ body: (OperationProgress) throws -> Result) throws -> Result {
        let progress = OperationProgress()
        if try archive.unknownHistoryCount(of: root) == 0 { return try body(progress) }
        let line = ProgressLine(
            "comparing snapshots of \(Escaping.text(root.path.bytes))", progress, console, counting: "snapshots")
        defer { line.end() }
        return try body(progress)
    }

    /// The latest snapshot of the root.
    func latest() throws -> ListedSnapshot { try archive.snapshot(.latest, of: root) }

    /// Reports snapshots whose changes are unknown because of damage.
    ///
    /// - Throws: `ExitStatus.damaged` if there are any.
    func reportDamage() throws {
        let damaged = try archive.damagedHistory(of: root)
        if damaged.isEmpty { return }
        try console.output.flush()
        console.warn(damaged, count: damaged.count) { snapshot in
            "the changes of snapshot \(snapshot.name) are unknown: part of it, or of the snapshot before it, "
                + "cannot be read; run 'archiver check'"
        }
        throw ExitStatus.damaged
    }

    /// Throws if the entry is not a text file.
    func requireText(_ entry: Entry) throws {
        let name = Escaping.text(entry.path)
        guard entry.kind == .file else {
            throw Failure.unsuitable(
                "\(name) is a \(entry.kind.word), not a file", remedy: "name a file", path: entry.path.bytes)
        }
        if TextLines.isBinary(try FileContents.archive(archive).bytes(entry)) {
            throw Failure.unsuitable(
                "\(name) is not a text file", remedy: "'archiver log' lists its versions", path: entry.path.bytes)
        }
    }

    /// Throws if no snapshot ever held `path`, which is a typing error.
    func requireKnown(_ path: RelativePath) throws {
        if path.isRoot { return }
        if try archive.history(of: path, in: root, HistoryQuery(limit: 1)).isEmpty { throw try noSuchPath(path) }
    }

    /// The error for a path that no snapshot ever held.
    func noSuchPath(_ path: RelativePath) throws -> Failure {
        if RootContext.habit(ByteArgument(path.bytes)) != nil {
            return .usage(
                "'\(Escaping.text(path))' is no path", remedy: "'archiver changes' shows what changed between snapshots"
            )
        }
        var remedy: String?
        if case .unknown(let nearest) = try archive.whereabouts(of: path, missingFrom: latest()), !nearest.isEmpty {
            remedy = Absence.suggestion(nearest, context.paths(in: root))
        }
        return Failure(
            status: .failed, code: ArchiverError.Code.noSuchPath.rawValue,
            message: "no snapshot of \(Escaping.text(root.path.bytes)) ever held \(Escaping.text(path))",
            remedy: remedy ?? "'archiver find PATTERN' searches for names", path: path.bytes)
    }
}

/// A path that an argument names, and the last snapshot to consider.
struct PathTarget {
    let path: RelativePath
    /// Nil for the latest one.
    var through: ListedSnapshot?
    /// Whether the path was found with a pattern.
    var isMatch = false
}

extension HistoryContext {
    /// The paths that `arguments` name: paths, `selector:path`, and patterns such as `'*.rs'`.
    ///
    /// - Returns: the root's top without arguments.
    /// - Throws: `Failure` if nothing matches a pattern.
    func targets(_ arguments: [ByteArgument]) throws -> [PathTarget] {
        arguments.isEmpty ? [PathTarget(path: .root)] : try arguments.flatMap(targets)
    }

    private func targets(_ argument: ByteArgument) throws -> [PathTarget] {
        // A path that exists under exactly this name wins, even if it contains colons or wildcards.
        let latest = try latest()
        if let path = try? path(argument), try archive.entry(at: path, in: latest) != nil {
            return [PathTarget(path: path)]
        }
        if !argument.bytes.starts(with: ":/".utf8), argument.bytes.contains(UInt8(ascii: ":")),
            let named = try? SnapshotPath(argument), let path = named.path
        {
            let snapshot = try snapshot(named.selector)
            return [PathTarget(path: try context.paths(in: root).path(path), through: snapshot)]
        }
        return try matches(argument) ?? [PathTarget(path: try path(argument))]
    }

    /// The one path that `argument` names, for a command that takes one.
    ///
    /// - Throws: `Failure` if it is a pattern that matches several.
    func target(_ argument: ByteArgument) throws -> PathTarget {
        let found = try targets(argument)
        if let only = found.first, found.count == 1 { return only }
        let names = found.prefix(3).map { Escaping.text($0.path) }.joined(separator: ", ")
        throw Failure.usage(
            "'\(Escaping.text(argument.bytes))' matches \(found.count) names: \(names)\(found.count > 3 ? " …" : "")",
            remedy: "name one")
    }

    /// The names in all snapshots that a pattern matches; nil if `argument` has no wildcards.
    ///
    /// - Throws: `Failure` if nothing matches.
    func matches(_ argument: ByteArgument) throws -> [PathTarget]? {
        guard argument.isPattern else { return nil }
        let (base, pattern) = try context.paths(in: root).pattern(argument.bytes)
        let names = try indexing { try archive.names(matching: pattern, in: root, progress: $0) }
        let found = names.filter { base.contains($0.path) }.map { PathTarget(path: $0.path, isMatch: true) }
        if found.isEmpty {
            throw Failure(
                status: .failed, code: ArchiverError.Code.noSuchPath.rawValue,
                message: "no name in \(Escaping.text(root.path.bytes)) matches '\(Escaping.text(argument.bytes))'",
                remedy: "'archiver find' searches for parts of names", path: argument.bytes)
        }
        return found
    }

    /// The snapshot of the root that `selector` names.
    func snapshot(_ selector: SnapshotSelector) throws -> ListedSnapshot {
        let snapshot = try context.snapshot(selector)
        guard snapshot.root == root else {
            throw Failure.usage(
                "snapshot \(snapshot.id.short) belongs to \(Escaping.text(snapshot.rootPath)), not to "
                    + Escaping.text(root.path.bytes),
                remedy: "name the root with --root DIR")
        }
        return snapshot
    }

    /// The snapshot that `--at` names with a selector, or with a time.
    func snapshot(at argument: ByteArgument) throws -> ListedSnapshot {
        do {
            return try snapshot(SnapshotPath(argument).withoutPath("--at"))
        } catch let error as ArchiverError where error.code == .noSuchSnapshot || error.code == .malformedSelector {
            let text = String(decoding: argument.bytes, as: UTF8.self)
            guard SnapshotSelector.moment(text, isStart: false) != nil else { throw error }
            return try snapshot(SnapshotSelector("@" + text))
        }
    }
}

extension ByteArgument {
    /// The path after the colon of a `selector:path`, as written; empty if there is none.
    var pathAfterColon: [[UInt8]] { (try? SnapshotPath(self))?.path.map { [$0] } ?? [] }

    /// Whether it has wildcards.
    var isPattern: Bool { bytes.contains(where: Array("*?[".utf8).contains) }

    /// The path in a path or a `selector:path`, which chooses the root.
    var pathInIt: [UInt8] {
        bytes.contains(UInt8(ascii: ":")) && !bytes.starts(with: ":/".utf8) ? pathAfterColon.first ?? bytes : bytes
    }
}
