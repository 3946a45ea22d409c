// `archiver list`: lists snapshots, saved states and what is forgotten.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List snapshots or saved states.",
        discussion: """
            Lists the snapshots of the root that contains the current directory, or of all roots, newest last. \
            Changes since the previous snapshot are shown as +added ~modified -removed; “stored” is the space that \
            the snapshot added to the archive. A terminal shows the newest 1000, unless --limit is given.

            In a pipe each snapshot is one line, with tabs between the columns: id, time, root, added, modified, \
            removed, bytes, stored bytes, cause, label. A line that begins with “# gap” is a gap, in which changes \
            may have been missed or seen late; one with “# note” is a note, and one with “# out of order” names a \
            snapshot whose time contradicts the order, because a clock was wrong. With --states the columns are id, time, \
            title, label, type, version, bytes, stored bytes; with --forgotten they are id, time of forgetting, time, \
            root or title, label, reason.

            Examples:
              archiver list --since @2h         snapshots of the last two hours
              archiver list --states --limit 10 the latest ten saved states
            """)

    @Option(help: ArgumentHelp("Show at most this many, the newest.", valueName: "count"))
    var limit: Int?

    @Option(
        help: ArgumentHelp(
            "Show only what is from this time or later: 10m, 14:05, 2026-11-21, \"2026-11-21 14:05\".",
            valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Show only what is up to this time.", valueName: "time"))
    var until: String?

    @Option(help: "Show only those with this label.")
    var label: String?

    @Flag(help: "List the newest first.")
    var reverse = false

    @Flag(help: "List the snapshots of all roots.")
    var all = false

    @Flag(name: .customLong("states"), help: "List the saved states of programs instead of snapshots.")
    var listsStates = false

    @Flag(
        name: .customLong("forgotten"),
        help: "List forgotten snapshots and states that can be brought back, last forgotten first.")
    var listsForgotten = false

    @OptionGroup var states: StateOptions
    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    /// The maximum number of rows of a table without `--limit`; programs get all rows.
    private static let tableLimit = 1000

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
        if all && place.root != nil { throw ValidationError("--all and --root exclude each other") }
        if (listsStates || states.title != nil) && (all || place.root != nil) {
            throw ValidationError("saved states do not belong to a root: leave out --all and --root")
        }
        if listsForgotten
            && (listsStates || states.title != nil || since != nil || until != nil || label != nil || reverse)
        {
            throw ValidationError("--forgotten can be combined only with --limit")
        }
    }

    func run() throws {
        let console = Console(global)
        Pager.start(console, global)
        if listsForgotten { return try listForgotten(console) }
        if listsStates || states.title != nil { return try listStates(console) }
        let context = try RootContext(global.openArchive(), place, ofAllRoots: all)
        let query = SnapshotQuery(
            root: context.root, label: label, since: try since.map { try ListCommand.time($0, isStart: true) },
            until: try until.map { try ListCommand.time($0, isStart: false) }, newestFirst: true, limit: limit)
        let isEmpty =
            try console.isForPerson
            ? showTable(query, context, console) : writeRows(query, context.archive, console)
        // Segments that were not read may contain snapshots.
        if context.archive.findings.contains(where: { $0.kind == .unread }) { throw ExitStatus.damaged }
        if isEmpty && !console.isJSON { console.remark(emptiness(context)) }
    }

    /// Shows the newest snapshots in a table.
    ///
    /// - Returns: whether there are none.
    private func showTable(_ query: SnapshotQuery, _ context: RootContext, _ console: Console) throws -> Bool {
        let archive = context.archive
        var query = query
        query.limit = limit ?? ListCommand.tableLimit
        let (snapshots, gaps) = try newest(query, archive)
        if snapshots.isEmpty { return true }
        context.reportWhich("snapshots", console)
        let pinned = Set(try archive.pins().map(\.target))
        let outOfOrder = try archive.snapshotsOutOfOrder(of: context.root)
        let table = SnapshotList.table(
            snapshots, gaps, console.style, pinned: pinned, notes: try archive.notesBySnapshot(of: context.root),
            outOfOrder: outOfOrder, isNewestFirst: reverse, width: console.output.columns)
        for line in table { try console.output.line(line) }
        if !outOfOrder.isEmpty {
            try console.output.flush()
            console.remark(
                "A clock was wrong when the snapshots marked “out of order” were made. The list shows the true order.")
        }
        try remarkOlder(than: snapshots.count, console) { try archive.snapshotCount(query) }
        return false
    }

    /// Reports how many rows a table of `shown` rows leaves out because of `tableLimit`.
    private func remarkOlder(than shown: Int, _ console: Console, count: () throws -> Int) throws {
        guard limit == nil, shown == ListCommand.tableLimit, case let count = try count(), count > shown else { return }
        try console.output.flush()
        console.remark(
            "\(count - shown) older ones are not shown: see --since and --until, or --limit \(count) for all")
    }

    /// Writes one line or JSON object per snapshot, the first ones immediately.
    ///
    /// - Returns: whether there are none.
    private func writeRows(_ query: SnapshotQuery, _ archive: Archive, _ console: Console) throws -> Bool {
        let pinned = Set(try archive.pins().map(\.target))
        let notes = try archive.notesBySnapshot(of: query.root)
        var writer = SnapshotRows(
            console, pinned: pinned, notes: notes, outOfOrder: try archive.snapshotsOutOfOrder(of: query.root),
            isNewestFirst: reverse)
        if limit != nil {
            let (snapshots, gaps) = try newest(query, archive)
            for snapshot in snapshots { try writer.append(snapshot, gaps.before(snapshot)) }
        } else {
            var query = query
            query.newestFirst = reverse
            let gaps = try ListedGaps(query, in: archive)
            try visiting({ try archive.forEachSnapshot(query, $0) }) { try writer.append($0, gaps.before($0)) }
        }
        try writer.finish()
        return writer.isEmpty
    }

    /// The newest snapshots in the order of the list, and the gaps between them.
    private func newest(
        _ query: SnapshotQuery, _ archive: Archive
    ) throws -> (snapshots: [ListedSnapshot], gaps: ListedGaps) {
        let found = try archive.snapshots(query)
        guard let oldest = found.map(\.time).min() else { return ([], ListedGaps()) }
        var listed = query
        listed.since = oldest
        return (reverse ? found : found.reversed(), try ListedGaps(listed, in: archive))
    }

    private func listForgotten(_ console: Console) throws {
        let forgotten = try global.openArchive()
            .forgotten(limit: limit ?? (console.isForPerson ? ListCommand.tableLimit : nil))
        if console.isJSON {
            var writer = try JSONArrayWriter(console.output)
            for one in forgotten { try writer.append(ForgottenJSON(one)) }
            return try writer.finish()
        }
        if forgotten.isEmpty { return console.remark("Nothing is forgotten.") }
        for line in ForgottenList.lines(forgotten, console) { try console.output.line(line) }
    }

    private func listStates(_ console: Console) throws {
        let archive = try global.openArchive()
        let query = StateQuery(
            title: states.title, label: label, since: try since.map { try ListCommand.time($0, isStart: true) },
            until: try until.map { try ListCommand.time($0, isStart: false) }, newestFirst: true,
            limit: limit ?? (console.isForPerson ? ListCommand.tableLimit : nil))
        let found = try archive.states(query)
        let listed = reverse ? found : found.reversed()
        if console.isJSON {
            var writer = try JSONArrayWriter(console.output)
            for state in listed { try writer.append(SavedStateJSON(state)) }
            return try writer.finish()
        }
        if listed.isEmpty { return console.remark(emptinessOfStates) }
        for line in StateList.lines(listed, console) { try console.output.line(line) }
        if console.isForPerson { try remarkOlder(than: listed.count, console) { try archive.stateCount(query) } }
    }

    /// Parses a time as in selectors, with or without the `@`.
    static func time(_ text: String, isStart: Bool) throws -> Timestamp {
        try SnapshotSelector.time(text.hasPrefix("@") ? String(text.dropFirst()) : text, isStart: isStart)
    }

    private var emptinessOfStates: String {
        let isFiltered = states.title != nil || since != nil || until != nil || label != nil
        return isFiltered ? "No saved state matches." : "The archive holds no saved states yet; programs create them."
    }

    private func emptiness(_ context: RootContext) -> String {
        if since == nil && until == nil && label == nil {
            return "The archive holds no snapshots yet; 'archiver watch DIR' makes them."
        }
        guard let root = context.root else { return "No snapshot matches." }
        return "No snapshot of \(Escaping.text(root.path.bytes)) matches; --all searches all roots."
    }
}
