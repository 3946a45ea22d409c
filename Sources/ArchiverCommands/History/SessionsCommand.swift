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
              archiver diff session~1           changes since the latest session began
            """)

    @Option(
        name: [.customShort("n"), .customLong("limit")],
        help: ArgumentHelp("Show at most this many, the latest.", valueName: "count"))
    var limit: Int?

    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    /// The maximum number of rows of a table without `--limit`.
    private static let tableLimit = 50

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
    }

    func run() throws {
        let history = try HistoryContext(global, place)
        let console = history.console
        let limit = limit ?? (console.isForPerson ? SessionsCommand.tableLimit : nil)
        let sessions = try history.archive.sessions(of: history.root, limit: limit)
        if console.isJSON {
            var writer = try JSONArrayWriter(console.output)
            for (index, session) in sessions.enumerated() {
                try writer.append(WorkSessionJSON(number: index + 1, session: session))
            }
            return try writer.finish()
        }
        guard console.isForPerson else {
            for (index, session) in sessions.enumerated() {
                try console.output.line(SessionsCommand.plain(index + 1, session))
            }
            return
        }
        var table = TextTable([
            TextTable.Column(title: "before it", mark: .yellow), TextTable.Column(title: "start"),
            TextTable.Column(title: "end", dispensability: 1),
            TextTable.Column(title: "snapshots", alignment: .right), TextTable.Column(title: "changes"),
            TextTable.Column(title: "stored", alignment: .right, dispensability: 2),
        ])
        for (index, session) in sessions.enumerated() {
            table.add([
                session.before == nil ? "" : "session~\(index + 1)", LocalTime.text(session.first.time),
                LocalTime.text(session.last.time), "\(session.snapshots)", session.changes.text,
                ByteCount.text(session.storedBytes),
            ])
        }
        for line in table.aligned(console.style, width: console.output.columns) { try console.output.line(line) }
    }

    private static func plain(_ number: Int, _ session: WorkSession) -> String {
        TextTable.plain([
            "\(number)", session.first.time.rfc3339, session.last.time.rfc3339, "\(session.snapshots)",
            "\(session.changes.added)", "\(session.changes.modified)", "\(session.changes.removed)",
            "\(session.storedBytes)", session.before?.id.short ?? "", session.last.id.short,
        ])
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
