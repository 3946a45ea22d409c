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

    /// - Parameter isPaged: whether to start a pager on a terminal.
    init(_ global: GlobalOptions, _ place: RootOptions, isPaged: Bool = true) throws {
        console = Console(global)
        context = try RootContext(global.openArchive(), place)
        try context.requireOneRoot(for: .latest)
        guard let root = try context.root ?? context.archive.roots().first else {
            throw Failure(
                status: .failed, code: "noSuchRoot", message: "the archive holds no snapshots",
                remedy: "'archiver watch DIR' makes them")
        }
        self.root = root
        if isPaged { Pager.start(console, global) }
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

/// Parses the times of `--since` and `--until`.
enum TimeOption {
    static func time(_ text: String, isStart: Bool) throws -> Timestamp {
        do {
            return try SnapshotSelector.time(text.hasPrefix("@") ? String(text.dropFirst()) : text, isStart: isStart)
        } catch {
            throw Failure.usage(
                "'\(text)' is not a time",
                remedy: "a time is like 10m (ago), 14:05, 2026-11-21 or \"2026-11-21 14:05\"")
        }
    }
}
