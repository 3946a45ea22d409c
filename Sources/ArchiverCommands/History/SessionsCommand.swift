// `archiver sessions`: lists the sessions of work on a directory.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct SessionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions",
        abstract: "List sessions of work on a directory, newest first.",
        discussion: """
            A pause of 30 minutes ends a session. session~1 names the last snapshot before the latest session, \
            session~2 the last one before the session before that, and so on; they work wherever a snapshot is named. \
            In a pipe the columns are separated by tabs: number, start, end, snapshots, added, modified, removed, \
            stored bytes, snapshot before, last snapshot.

            Examples:
              archiver sessions
              archiver diff session~1           # changes since the latest session began
            """)

    @OptionGroup var window: WindowOptions
    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    /// The maximum number of rows of a table without `--limit`.
    private static let tableLimit = 50

    func run() throws {
        let history = try HistoryContext(global, place)
        let console = history.console
        let period = try window.period.period()
        let limit = window.limit ?? (console.isForPerson ? SessionsCommand.tableLimit : nil)
        // Sessions are counted from the latest one, whatever the period.
        let sessions = try history.archive.sessions(of: history.root, limit: window.period.isGiven ? nil : limit)
            .enumerated().map { Row(number: $0 + 1, session: $1) }
            .filter { period.overlaps($0.session.first.time, $0.session.last.time) }
        let isCut = window.limit == nil && sessions.count >= SessionsCommand.tableLimit
        try SessionsCommand.listing.write(
            sessions.prefix(limit ?? sessions.count), console,
            older: isCut ? "Older sessions are not shown; -n shows more." : nil)
    }

    private struct Row {
        let number: Int
        let session: WorkSession
    }

    private static var listing: Listing<Row> {
        Listing(
            [
                .person("before it", mark: .yellow) { $0.session.before == nil ? "" : "session~\($0.number)" },
                .pipe { "\($0.number)" }, .time("start") { $0.session.first.time },
                .time("end", dispensability: 1) { $0.session.last.time },
                .text("snapshots", alignment: .right) { "\($0.session.snapshots)" },
                .person("changes") { $0.session.changes.text }, .pipe { "\($0.session.changes.added)" },
                .pipe { "\($0.session.changes.modified)" }, .pipe { "\($0.session.changes.removed)" },
                .bytes("stored", dispensability: 2) { $0.session.storedBytes },
                .pipe { $0.session.before?.id.short ?? "" }, .pipe { $0.session.last.id.short },
            ], emptiness: "No session matches."
        ) { WorkSessionJSON(number: $0.number, session: $0.session) }
    }
}

/// A session as `sessions --json` shows it.
struct WorkSessionJSON: Encodable {
    let number: Int
    let session: WorkSession

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(number, forKey: "number")
        try object.encode(session.first.time, forKey: "start")
        try object.encode(session.last.time, forKey: "end")
        try object.encode(session.snapshots, forKey: "snapshots")
        try object.encode(session.changes.added, forKey: "added")
        try object.encode(session.changes.modified, forKey: "modified")
        try object.encode(session.changes.removed, forKey: "removed")
        try object.encode(session.storedBytes, forKey: "storedBytes")
        try object.encode(session.before?.id.hex, forKey: "before")
        try object.encode(session.last.id.hex, forKey: "last")
    }
}
