// What the commands about history have in common: whose history, what is to be compared first, what nobody can tell.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import TextDiff

/// The root whose history is asked for.
struct HistoryContext {
    let context: RootContext
    let root: ArchivedRoot
    let console: Console

    var archive: Archive { context.archive }

    /// - Parameter isPaged: whether a person reads what is written through a pager.
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

    /// The path that an argument names; the root's top where there is none.
    func path(_ argument: ByteArgument?) throws -> RelativePath {
        try context.paths(in: root).path(argument?.bytes ?? [])
    }

    /// Does `body`, which may have to compare snapshots first, and shows how far that is.
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

    /// Says of which snapshots nobody can tell what they changed.
    ///
    /// - Throws: `ExitStatus.damaged` where there are such.
    func reportDamage() throws {
        let damaged = try archive.damagedHistory(of: root)
        if damaged.isEmpty { return }
        try console.output.flush()
        console.warn(damaged, count: damaged.count) { snapshot in
            "what snapshot \(snapshot.name) changed cannot be told: a part of it, or of the one before, cannot be read; "
                + "'archiver check' says more"
        }
        throw ExitStatus.damaged
    }

    /// Refuses what has no lines.
    func requireText(_ entry: Entry) throws {
        let name = Escaping.text(entry.path)
        guard entry.kind == .file else {
            throw Failure.unsuitable(
                "\(name) is a \(entry.kind.word), not a file", remedy: "name a file", path: entry.path.bytes)
        }
        if TextLines.isBinary(try FileContents.archive(archive).bytes(entry)) {
            throw Failure.unsuitable(
                "\(name) is no text", remedy: "'archiver log' lists its versions", path: entry.path.bytes)
        }
    }

    /// Refuses a path that no snapshot ever held: that is a slip of the pen.
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
            remedy: remedy ?? "'archiver find PATTERN' looks for names", path: path.bytes)
    }
}

/// A time as `--since` takes it.
enum TimeOption {
    static func time(_ text: String, isStart: Bool) throws -> Timestamp {
        do {
            return try SnapshotSelector.time(text.hasPrefix("@") ? String(text.dropFirst()) : text, isStart: isStart)
        } catch {
            throw Failure.usage(
                "'\(text)' is no time",
                remedy: "a time is like 10m (ago), 14:05, 2026-11-21 or \"2026-11-21 14:05\"")
        }
    }
}
