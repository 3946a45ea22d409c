// `archiver log`: lists the versions of a file or directory.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "log",
        abstract: "List the versions of a file or directory, newest first.",
        discussion: """
            Lists every snapshot that changed the file, or anything in the directory. Renames are followed to the \
            old name. Of several paths, or of all roots, the versions are listed together. With --format lines the columns are \
            separated by tabs: id, time, change, size, path, other path, cause, label; for a directory: id, time, \
            added, modified, removed, path, cause, label. Lines that begin with “# note” are notes.

            Examples:
              archiver log notes/todo.txt
              archiver log notes/todo.txt -p --since 2d     # with patches
              archiver log '*.rs' README.md -n 20           # several files
              archiver log @1w:notes/todo.txt               # up to a week ago
              archiver log notes/todo.txt -L 10,40          # only changes to these lines
              archiver restore 7c11e0:notes/todo.txt        # restore one version
            """)

    @Argument(
        help: ArgumentHelp(
            "Files, directories or patterns, or SNAPSHOT:PATH for the versions up to it (default: the whole root).",
            valueName: "[selector:]path"))
    var paths: [ByteArgument] = []

    @OptionGroup var window: WindowOptions

    @Flag(name: .customLong("no-follow"), help: "Do not follow renames.")
    var staysWithName = false

    @Flag(help: "Count the lines that were added and removed.")
    var stat = false

    @Flag(name: [.customShort("p"), .customLong("patch")], help: "Show the changes as a patch.")
    var patch = false

    @Option(
        name: .customShort("L", allowingJoined: true),
        help: ArgumentHelp("Show only these lines.", valueName: "first,last"))
    var range: String?

    @OptionGroup var scope: ScopeOptions
    @OptionGroup var global: GlobalOptions

    /// The maximum number of rows of a table without `--limit`; programs get all rows.
    private static let tableLimit = 1000

    func validate() throws {
        if patch && global.json { throw ValidationError("--patch and --json exclude each other") }
        if patch && stat { throw ValidationError("--patch and --stat exclude each other") }
    }

    func run() throws {
        let period = try window.period()
        let all = try HistoryContext.each(global, scope, paths: paths.map(\.pathInIt))
        let console = Console(global)
        let query = HistoryQuery(
            since: period.since, until: period.until,
            limit: window.limit ?? (console.isShortened ? LogCommand.tableLimit : nil),
            followsRenames: !staysWithName)
        if scope.all {
            if range != nil { throw Failure.usage("-L takes one file", remedy: "name one file instead of --all") }
            try listDirectories(all.map { ($0, PathTarget(path: .root)) }, query, console)
        } else if let history = all.first {
            try list(history.targets(paths), query, history)
        }
        for history in all { try history.reportDamage() }
    }

    private func list(_ targets: [PathTarget], _ query: HistoryQuery, _ history: HistoryContext) throws {
        if let range {
            guard targets.count == 1 else {
                throw Failure.usage("-L takes one file", remedy: "name one file, without a pattern")
            }
            try listLines(LineOption.range(range), targets[0], query, history)
        } else if targets.count == 1, try isDirectory(targets[0].path, history) {
            try listDirectories([(history, targets[0])], query, history.console)
        } else {
            try listFiles(targets, query, history)
        }
    }

    /// Whether the latest entry at `path` is a directory.
    private func isDirectory(_ path: RelativePath, _ history: HistoryContext) throws -> Bool {
        if path.isRoot { return true }
        if let entry = try? history.archive.entry(at: path, in: history.latest()) { return entry.kind == .directory }
        let last = try history.indexing { progress in
            try history.archive.history(of: path, in: history.root, HistoryQuery(limit: 1), progress: progress)
        }
        guard let last = last.first else { throw try history.noSuchPath(path) }
        return last.kind == .directory
    }

    private func versions(
        ofDirectory target: PathTarget, _ query: HistoryQuery, _ history: HistoryContext
    ) throws -> [DirectoryRow] {
        var query = query
        query.through = target.through
        return try history.indexing {
            try history.archive.history(ofDirectory: target.path, in: history.root, query, progress: $0)
        }.map { DirectoryRow(history: history, version: $0) }
    }

    /// Lists the versions of a directory, or of several roots together.
    private func listDirectories(
        _ directories: [(history: HistoryContext, target: PathTarget)], _ query: HistoryQuery, _ console: Console
    ) throws {
        var rows = try directories.flatMap { try versions(ofDirectory: $0.target, query, $0.history) }
        if directories.count > 1 {
            // A stable order for equal times: that of the roots.
            rows.sort { $0.version.snapshot.time > $1.version.snapshot.time }
            rows = Array(rows.prefix(query.limit ?? rows.count))
        }
        if patch || stat && !console.isJSON {
            for row in rows { try VersionPatches(row.history).write(row.version, isStat: stat) }
            if rows.isEmpty { console.remark(VersionList.emptiness) }
        } else {
            if stat { for index in rows.indices { rows[index].lines = try rows[index].counted() } }
            try VersionList(directories.map(\.history)).directory(
                showsPath: Set(rows.map { $0.history.shown($0.version.path) }).count > 1
            ).write(rows, console)
        }
        remarkOlder(than: rows.count, console)
    }

    /// Reports that there may be more versions than a table shows.
    private func remarkOlder(than count: Int, _ console: Console) {
        guard window.limit == nil, console.isShortened, count == LogCommand.tableLimit else { return }
        try? console.output.flush()
        console.remark("Older versions are not shown: use --since and --until, or -n for more.")
    }

    private func listFiles(_ targets: [PathTarget], _ query: HistoryQuery, _ history: HistoryContext) throws {
        let found = try targets.map { try self.versions(of: $0, query, history) }
        var versions = found.first ?? []
        if found.count > 1 {
            var seen: Set<Place> = []
            versions = found.flatMap(\.self)
                .filter { seen.insert(Place(snapshot: $0.snapshot.id, path: $0.path)).inserted }
                .sorted { ($1.snapshot.sequence, $0.path) < ($0.snapshot.sequence, $1.path) }
            versions = Array(versions.prefix(query.limit ?? versions.count))
        }
        if patch {
            if versions.isEmpty { history.console.remark(VersionList.emptiness) }
            try VersionPatches(history).write(versions)
        } else {
            let rows = try versions.map { version in
                VersionRow(
                    version: version, lines: stat ? .some(try VersionPatches(history).lineCounts(of: version)) : nil)
            }
            try VersionList([history]).files(isCounted: stat, showsPath: targets.count > 1).write(rows, history.console)
        }
        if targets.count == 1 { try remarkEarlierLife(of: targets[0], versions, query, history) }
        remarkOlder(than: versions.count, history.console)
    }

    /// Where a version is: the same one may belong to several paths.
    private struct Place: Hashable {
        let snapshot: SnapshotID
        let path: RelativePath
    }

    /// Mentions another file that had the name before this one was renamed to it.
    private func remarkEarlierLife(
        of target: PathTarget, _ versions: [PathVersion], _ query: HistoryQuery, _ history: HistoryContext
    ) throws {
        guard !staysWithName, let came = versions.last(where: { $0.change == .renamed && $0.path == target.path })
        else { return }
        let named = try history.archive.history(
            of: target.path, in: history.root, HistoryQuery(followsRenames: false, through: came.snapshot))
        guard let last = named.first(where: { $0.snapshot.sequence < came.snapshot.sequence }) else { return }
        try history.console.output.flush()
        history.console.remark(
            "Another file was called \(Escaping.text(target.path)) until \(LocalTime.text(last.snapshot.time)); "
                + "--no-follow lists its versions.")
    }

    /// The versions of a file; of a directory among several paths, the changes in it.
    private func versions(
        of target: PathTarget, _ query: HistoryQuery, _ history: HistoryContext
    ) throws -> [PathVersion] {
        var query = query
        query.through = target.through
        if try isDirectory(target.path, history) {
            guard !target.isMatch else { return [] }
            let end = try target.through ?? history.latest()
            let changes = try history.indexing {
                try history.archive.changes(
                    in: history.root, after: nil, through: end, at: target.path, progress: $0)
            }
            return changes.reversed().filter { query.accepts($0.snapshot) }.flatMap(\.changes)
        }
        let versions = try history.indexing {
            try history.archive.history(of: target.path, in: history.root, query, progress: $0)
        }
        if versions.isEmpty, !window.hasPeriod, target.through == nil { throw try history.noSuchPath(target.path) }
        return versions
    }

    private func listLines(
        _ range: ClosedRange<Int>, _ target: PathTarget, _ query: HistoryQuery, _ history: HistoryContext
    ) throws {
        if stat {
            throw Failure.usage("--stat and -L exclude each other", remedy: "use --patch with -L")
        }
        // Lines are always followed from the newest version, whatever --since and --until select.
        let path = target.path
        let everything = HistoryQuery(followsRenames: query.followsRenames, through: target.through)
        let all = try history.indexing {
            try history.archive.history(of: path, in: history.root, everything, progress: $0)
        }
        guard let newest = all.first(where: \.isPresent) else { throw try history.noSuchPath(path) }
        if let entry = try history.archive.entry(at: newest.path, in: newest.snapshot) {
            try history.requireText(entry)
        }
        let found = try LineHistory(history).versions(all, changing: range).filter {
            query.accepts($0.version.snapshot)
        }
        let shown = window.newest(found)
        if patch { return try VersionPatches(history).write(shown.map(\.version), shown.map(\.range)) }
        try VersionList([history]).files(isCounted: false, showsPath: false)
            .write(shown.map { VersionRow(version: $0.version) }, history.console)
    }
}
