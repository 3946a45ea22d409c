// `archiver log`: lists the versions of a file or directory.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "List the versions of a file or directory, newest first.",
        discussion: """
            Lists every snapshot that changed the file, or anything in the directory. Renames are followed to the \
            old name. In a pipe the columns are separated by tabs: id, time, change, size, path, other path, cause, \
            label; for a directory: id, time, added, modified, removed, path, cause, label. Lines that begin with “# \
            note” are notes.

            Examples:
              archiver log notes/todo.txt
              archiver log notes/todo.txt -p --since 2d     with patches
              archiver log notes/todo.txt -L 10,40          only changes to these lines
              archiver restore 7c11e0:notes/todo.txt        restore one version
            """)

    @Argument(help: ArgumentHelp("A file or directory below the root (default: the whole root).", valueName: "path"))
    var path: ByteArgument?

    @Option(
        name: [.customShort("n"), .customLong("limit")],
        help: ArgumentHelp("Show at most this many, the newest.", valueName: "count"))
    var limit: Int?

    @Option(help: ArgumentHelp("Show only what is from this time or later: 10m, 14:05, 2026-11-21.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Show only what is up to this time.", valueName: "time"))
    var until: String?

    @Flag(name: .customLong("no-follow"), help: "Do not follow renames.")
    var staysWithName = false

    @Flag(help: "Count the lines that each version added and removed.")
    var stat = false

    @Flag(name: [.customShort("p"), .customLong("patch")], help: "Show each version's changes as a patch.")
    var patch = false

    @Option(
        name: .customShort("L"),
        help: ArgumentHelp("Show only versions that changed these lines of the newest one.", valueName: "first,last"))
    var range: String?

    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    /// The maximum number of rows of a table without `--limit`; programs get all rows.
    private static let tableLimit = 1000

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
        if patch && global.json { throw ValidationError("--patch and --json exclude each other") }
        if patch && stat { throw ValidationError("--patch and --stat exclude each other") }
    }

    func run() throws {
        let history = try HistoryContext(global, place)
        let path = try history.path(path)
        let query = HistoryQuery(
            since: try since.map { try TimeOption.time($0, isStart: true) },
            until: try until.map { try TimeOption.time($0, isStart: false) },
            limit: limit ?? (history.console.isForPerson ? LogCommand.tableLimit : nil),
            followsRenames: !staysWithName)
        if let range {
            try listLines(LineOption.range(range), path, query, history)
        } else if try isDirectory(path, history) {
            try listDirectory(path, query, history)
        } else {
            try listFile(path, query, history)
        }
        try history.reportDamage()
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

    private func listDirectory(_ path: RelativePath, _ query: HistoryQuery, _ history: HistoryContext) throws {
        if patch || stat {
            throw Failure.usage(
                "--patch and --stat are for files, and \(Escaping.text(path)) is a directory",
                remedy: "name a file, or compare two snapshots of the directory with 'archiver diff'")
        }
        let versions = try history.indexing {
            try history.archive.history(ofDirectory: path, in: history.root, query, progress: $0)
        }
        if versions.isEmpty, !history.console.isJSON { history.console.remark("No version matches.") }
        try VersionList(history).write(versions)
        remarkOlder(than: versions.count, history.console)
    }

    /// Reports that there may be more versions than a table shows.
    private func remarkOlder(than count: Int, _ console: Console) {
        guard limit == nil, console.isForPerson, count == LogCommand.tableLimit else { return }
        try? console.output.flush()
        console.remark("Older versions are not shown: use --since and --until, or -n for more.")
    }

    private func listFile(_ path: RelativePath, _ query: HistoryQuery, _ history: HistoryContext) throws {
        let versions = try history.indexing {
            try history.archive.history(of: path, in: history.root, query, progress: $0)
        }
        if versions.isEmpty {
            if since == nil, until == nil { throw try history.noSuchPath(path) }
            if !history.console.isJSON { history.console.remark("No version matches.") }
        }
        if patch {
            try VersionPatches(history).write(versions)
            return remarkOlder(than: versions.count, history.console)
        }
        let lines = stat ? try versions.map { try VersionPatches(history).lineCounts(of: $0) } : nil
        try VersionList(history).write(versions, lines)
        remarkOlder(than: versions.count, history.console)
    }

    private func listLines(
        _ range: ClosedRange<Int>, _ path: RelativePath, _ query: HistoryQuery, _ history: HistoryContext
    ) throws {
        if stat {
            throw Failure.usage("--stat and -L exclude each other", remedy: "use --patch with -L")
        }
        // Lines are always followed from the newest version, whatever --since and --until select.
        let everything = HistoryQuery(followsRenames: query.followsRenames)
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
        let shown = found.prefix(limit ?? found.count)
        if shown.isEmpty, !history.console.isJSON { history.console.remark("No version matches.") }
        if patch { return try VersionPatches(history).write(shown.map(\.version), shown.map(\.range)) }
        try VersionList(history).write(shown.map(\.version))
    }
}
