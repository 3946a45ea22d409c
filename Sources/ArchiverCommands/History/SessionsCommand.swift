// `archiver sessions`: lists the sessions of work on a directory.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct SessionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "sessions",
        abstract: "List sessions of work on a directory, newest first.",
        discussion: """
            A pause of 30 minutes ends a session. session~1 names the last snapshot before the latest session, \
            session~2 the last one before the session before that, and so on; they work wherever a snapshot is named. \
            With --format lines the columns are separated by tabs: number, start, end, snapshots, added, modified, removed, \
            stored bytes, snapshot before, last snapshot, root.

            Examples:
              archiver sessions
              archiver diff session~1           # changes since the latest session began
            """)

    @OptionGroup var window: WindowOptions
    @OptionGroup var scope: ScopeOptions
    @OptionGroup var global: GlobalOptions

    /// The maximum number of rows of a table without `--limit`.
    private static let tableLimit = 50

    func run() throws {
        let console = Console(global)
        let period = try window.period()
        let limit = window.limit ?? (console.isShortened ? SessionsCommand.tableLimit : nil)
        var rows = try HistoryContext.each(global, scope, paths: []).flatMap { history in
            // Sessions are counted from the latest one, whatever the period.
            try history.archive.sessions(of: history.root, limit: window.hasPeriod ? nil : limit)
                .enumerated().map { Row(root: history.root, number: $0 + 1, session: $1) }
                .filter { period.overlaps($0.session.first.time, $0.session.last.time) }
        }
        if scope.all { rows.sort { $0.session.last.time > $1.session.last.time } }
        let isCut = window.limit == nil && rows.count >= SessionsCommand.tableLimit
        try listing.write(
            rows.prefix(limit ?? rows.count), console,
            older: isCut ? "Older sessions are not shown; -n shows more." : nil)
    }

    private struct Row {
        let root: ArchivedRoot
        let number: Int
        let session: WorkSession
    }

    private var listing: Listing<Row> {
        let root: [Listing<Row>.Column] =
            scope.all ? [.person("root", isElastic: true) { Escaping.text($0.root.path.bytes) }] : []
        return Listing(
            [
                .person("before it", mark: .yellow) { $0.session.before == nil ? "" : "session~\($0.number)" },
                .pipe { "\($0.number)" }, .time("start") { $0.session.first.time },
                .time("end", dispensability: 1) { $0.session.last.time },
                .text("snapshots", alignment: .right, dispensability: 0) { "\($0.session.snapshots)" },
                .person("changes") { $0.session.changes.text }, .pipe { "\($0.session.changes.added)" },
                .pipe { "\($0.session.changes.modified)" }, .pipe { "\($0.session.changes.removed)" },
                .bytes("stored", dispensability: 2) { $0.session.storedBytes },
                .pipe { $0.session.before?.id.short ?? "" }, .pipe { $0.session.last.id.short },
                .pipe { Escaping.text($0.root.path.bytes) },
            ] + root, emptiness: "No session matches."
        ) { WorkSessionJSON(root: $0.root, number: $0.number, session: $0.session) }
    }
}
