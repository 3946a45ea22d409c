// `archiver list`: lists snapshots, saved states and what is forgotten.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "list",
        abstract: "List snapshots or saved states.",
        discussion: """
            Lists the snapshots of the root that contains the current directory, or of all roots, newest last. \
            Changes since the previous snapshot are shown as +added ~modified -removed, with the first path; “stored” \
            is the space that the snapshot added to the archive. A terminal shows the newest 1000, unless --limit is \
            given, and names the first path of those.

            With --format lines each snapshot is one line, with tabs between the columns: id, time, root, added, modified, \
            removed, bytes, stored bytes, cause, label. A line that begins with “# gap” is a gap, in which changes \
            may have been missed or seen late; one with “# note” is a note, and one with “# out of order” names a \
            snapshot whose time contradicts the order, because a clock was wrong. With --states the columns are id, time, \
            title, label, type, version, bytes, stored bytes; with --forgotten they are id, time of forgetting, time, \
            root or title, label, reason.

            Examples:
              archiver list --since 2h          # snapshots of the last two hours
              archiver list --states -n 10      # the latest ten saved states
            """)

    @Argument(
        help: ArgumentHelp("The root (default: the one that contains the current directory, or all).", valueName: "dir")
    )
    var directory: PathArgument?

    @OptionGroup var window: WindowOptions

    @Option(help: "The label of the snapshots, as in 'archiver restore before-upgrade'.")
    var label: String?

    @Flag(help: "List the newest first.")
    var reverse = false

    @Flag(name: .customLong("states"), help: "List the saved states of programs instead of snapshots.")
    var listsStates = false

    @Flag(
        name: .customLong("forgotten"),
        help: "List forgotten snapshots and states that can be brought back, last forgotten first.")
    var listsForgotten = false

    @Option(help: .state) var state: String?
    @OptionGroup var scope: ScopeOptions
    @OptionGroup var global: GlobalOptions

    /// The maximum number of rows of a table without `--limit`; programs get all rows.
    private static let tableLimit = 1000

    func validate() throws {
        let namesRoot = scope.all || scope.place.root != nil || directory != nil
        if directory != nil, scope.all || scope.place.root != nil {
            throw ValidationError("a directory, --root and --all exclude each other")
        }
        if (listsStates || state != nil) && namesRoot {
            throw ValidationError("saved states do not belong to a root: leave out the directory, --all and --root")
        }
        if listsForgotten
            && (listsStates || state != nil || window.hasPeriod || label != nil || reverse)
        {
            throw ValidationError("--forgotten can be combined only with --limit")
        }
    }

    func run() throws {
        let console = Console(global)
        Pager.start(console, global, atEnd: !reverse && !listsForgotten)
        if listsForgotten { return try listForgotten(console) }
        let period = try window.period()
        if listsStates || state != nil { return try listStates(period, console) }
        let context = try context()
        let query = SnapshotQuery(
            root: context.root, label: label, since: period.since, until: period.until, newestFirst: true,
            limit: window.limit)
        try list(query, context, console)
        // Segments that were not read may contain snapshots.
        if hasUnread(context.archive) { throw ExitStatus.damaged }
    }

    /// The root to list.
    ///
    /// - Throws: `Failure` if the argument is not a root, but perhaps a path in one.
    private func context() throws -> RootContext {
        let archive = try global.openArchive()
        guard let directory else { return try RootContext(archive, scope.place, ofAllRoots: scope.all) }
        let path = directory.path.resolved
        if try archive.roots().contains(where: { $0.path == path }) {
            return try RootContext(archive, directory, onHost: scope.place.host)
        }
        let word = ShellWord.text(directory.path.bytes)
        if FileStatus.size(at: path) == nil,
            directory.path.string.wholeMatch(of: /(@.*|latest|oldest)(~[0-9]+)?/) != nil
        {
            throw Failure.usage(
                "'\(Escaping.text(directory.path.bytes))' is a snapshot, not a directory",
                remedy: "'archiver show \(word)' shows it; --since and --until list a span of time")
        }
        if let root = try archive.root(holding: path) {
            throw Failure.usage(
                "\(Escaping.text(directory.path.bytes)) is in the root \(Escaping.text(root.path.bytes))",
                remedy: "'archiver log \(word)' lists its versions")
        }
        return try RootContext(archive, directory, onHost: scope.place.host)
    }

    private func hasUnread(_ archive: Archive) -> Bool { archive.findings.contains { $0.kind == .unread } }

    /// Writes the snapshots: a table of the newest, or one line or object per snapshot, the first ones immediately.
    private func list(_ query: SnapshotQuery, _ context: RootContext, _ console: Console) throws {
        let archive = context.archive
        var query = query
        query.limit = window.limit ?? (console.isShortened ? ListCommand.tableLimit : nil)
        let pinned = Set(try archive.pins().map(\.target))
        let notes = try archive.notesBySnapshot(of: context.root)
        let outOfOrder = try archive.snapshotsOutOfOrder(of: context.root)
        func row(_ snapshot: ListedSnapshot, _ gaps: ListedGaps) -> SnapshotRow {
            SnapshotRow(
                snapshot: snapshot, gaps: gaps.before(snapshot), notes: notes.isEmpty ? [] : notes[snapshot.id] ?? [],
                isPinned: pinned.contains(snapshot.id.chunk), isOutOfOrder: outOfOrder.contains(snapshot.id))
        }
        let emptiness = hasUnread(archive) ? "" : emptiness(context)
        guard query.limit != nil || console.isForPerson else {
            query.newestFirst = reverse
            let gaps = try ListedGaps(query, in: archive)
            return try SnapshotList.listing(isNewestFirst: reverse, emptiness: emptiness).write(console) { write in
                try visiting({ try archive.forEachSnapshot(query, $0) }) { try write(row($0, gaps)) }
            }
        }
        let (snapshots, gaps) = try newest(query, archive)
        if console.isForPerson, !snapshots.isEmpty { context.reportWhich("snapshots", console) }
        var rows = snapshots.map { row($0, gaps) }
        if console.isForPerson {
            // Each reads the snapshot's record, so a longer list says it of the newest only.
            let words = try SnapshotWords(archive, of: context.root)
            let limit = ListCommand.tableLimit
            let newest = reverse ? rows.indices.prefix(limit) : rows.indices.suffix(limit)
            for index in newest { rows[index].what = words.text(rows[index].snapshot) }
        }
        try SnapshotList.listing(
            showsRoot: Set(snapshots.map(\.rootPath)).count > 1, showsWhat: console.isForPerson,
            isNewestFirst: reverse, emptiness: emptiness
        ).write(rows, console)
        guard console.isForPerson else { return }
        if snapshots.contains(where: { outOfOrder.contains($0.id) }) {
            try console.output.flush()
            console.remark(
                "A clock was wrong when the snapshots marked “out of order” were made. The list shows the true order.")
        }
        if console.isShortened { try remarkOlder(than: snapshots.count, console) { try archive.snapshotCount(query) } }
    }

    /// Reports how many rows a table of `shown` rows leaves out because of `tableLimit`.
    private func remarkOlder(than shown: Int, _ console: Console, count: () throws -> Int) throws {
        guard window.limit == nil, shown == ListCommand.tableLimit, case let count = try count(), count > shown else {
            return
        }
        try console.output.flush()
        console.remark(
            "\(count - shown) older ones are not shown: see --since and --until, or --limit \(count) for all")
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
            .forgotten(limit: window.limit ?? (console.isShortened ? ListCommand.tableLimit : nil))
        try ForgottenList.listing.write(forgotten, console)
    }

    private func listStates(_ period: Period, _ console: Console) throws {
        let archive = try global.openArchive()
        let query = StateQuery(
            title: state, label: label, since: period.since, until: period.until, newestFirst: true,
            limit: window.limit ?? (console.isShortened ? ListCommand.tableLimit : nil))
        let found = try archive.states(query)
        let listed = reverse ? found : found.reversed()
        try StateList.listing(emptiness: emptinessOfStates).write(listed, console)
        if console.isShortened { try remarkOlder(than: listed.count, console) { try archive.stateCount(query) } }
    }

    private var emptinessOfStates: String {
        let isFiltered = state != nil || window.hasPeriod || label != nil
        return isFiltered ? "No saved state matches." : "The archive holds no saved states yet; programs create them."
    }

    private func emptiness(_ context: RootContext) -> String {
        if !window.hasPeriod && label == nil {
            return "The archive holds no snapshots yet; 'archiver watch DIR' makes them."
        }
        guard let root = context.root else { return "No snapshot matches." }
        return "No snapshot of \(Escaping.text(root.path.bytes)) matches; --all searches all roots."
    }
}

/// Lists of saved states for people and for programs.
enum StateList {
    static func listing(emptiness: String) -> Listing<ListedState> {
        Listing(
            [
                .text("id", mark: .yellow) { $0.id.short }, .time("time") { $0.time },
                .text("title", isElastic: true) { Escaping.text($0.title) },
                .text("label", isElastic: true) { Escaping.text($0.label ?? "") },
                .pipe { Escaping.text($0.type) },
                .text("version", alignment: .right, dispensability: 2) { "\($0.version)" },
                .bytes("size", dispensability: 1) { $0.bytes }, .bytes("stored", dispensability: 3) { $0.storedBytes },
            ], emptiness: emptiness
        ) { SavedStateJSON($0) }
    }
}

/// The gaps of a list of snapshots, each assigned to the root's first snapshot after it.
struct ListedGaps {
    private let gaps: [SnapshotID: [GapRecord]]

    init(_ gaps: [SnapshotID: [GapRecord]] = [:]) { self.gaps = gaps }

    /// The gaps between the snapshots of `query`.
    init(_ query: SnapshotQuery, in archive: Archive) throws { gaps = try archive.gapsBetweenSnapshots(query) }

    /// The gaps before `snapshot`.
    func before(_ snapshot: ListedSnapshot) -> [GapRecord] { gaps.isEmpty ? [] : gaps[snapshot.id] ?? [] }
}
