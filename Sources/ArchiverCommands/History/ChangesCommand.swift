// `archiver changes`: shows all changes between two snapshots, including temporary files.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct ChangesCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "changes",
        abstract: "Show the changes since a snapshot, or between two.",
        discussion: """
            Shows for each file + added, ~ modified, - deleted, > renamed or . temporary, and the number of snapshots \
            that changed it. A file has the names of the two snapshots, whatever it was called in between. Without a \
            selector or a time it starts with the latest session. Unlike diff, it also shows changes that were \
            reverted in between, and it reads only the index. With --format lines the columns are separated by tabs: change, \
            snapshots, path, other path; with --timeline: id, time, change, path, other path.

            Examples:
              archiver changes                  # since the latest session began
              archiver changes @1d --timeline   # each snapshot of the last day
              archiver changes --since 1d --all # in all roots
            """)

    @Argument(
        help: ArgumentHelp("The earlier snapshot (default: session~1).", valueName: "selector"), completion: .selector)
    var left: ByteArgument?

    @Argument(help: ArgumentHelp("The later snapshot (default: latest).", valueName: "selector"), completion: .selector)
    var right: ByteArgument?

    @Flag(help: "Show changes snapshot by snapshot instead of file by file.")
    var timeline = false

    @OptionGroup var times: PeriodOptions
    @OptionGroup var scope: ScopeOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if left != nil, times.isGiven {
            throw ValidationError("the changes are between snapshots or between times: leave out one of them")
        }
        if left != nil, scope.all {
            throw ValidationError("a snapshot belongs to one root: leave out --all, or give times instead of snapshots")
        }
    }

    func run() throws {
        let period = try times.period()
        let all = try HistoryContext.each(global, scope, paths: left?.pathAfterColon ?? [])
        let spans = try all.compactMap { try span($0, period) }
        let console = Console(global)
        if timeline {
            try ChangesReport(console).writeTimeline(
                spans.map { span in
                    let changes = try span.history.indexing {
                        try span.history.archive.changes(
                            in: span.history.root, after: span.start, through: span.end, at: span.scope.path,
                            progress: $0)
                    }.compactMap(span.limited)
                    if changes.isEmpty { try requireKnown(span) }
                    return (span.history, changes)
                })
        } else {
            try ChangesReport(console).writePaths(
                spans.map { span in
                    let changes = try span.history.indexing {
                        try span.history.archive.combinedChanges(
                            in: span.history.root, after: span.start, through: span.end, at: span.scope.path,
                            progress: $0)
                    }.filter { span.scope.contains($0.path, isDirectory: $0.kind == .directory) }
                    if changes.isEmpty { try requireKnown(span) }
                    return (span.history, changes)
                })
        }
        for history in all { try history.reportDamage() }
    }

    /// The changes to show of a root.
    private struct Span {
        let history: HistoryContext
        /// The snapshot to start after; nil to start with the first snapshot.
        let start: ListedSnapshot?
        let end: ListedSnapshot
        /// The part of the root to show.
        var scope = PathScope(path: .root)

        /// The changes of a snapshot in that part; nil if there are none.
        func limited(_ changes: SnapshotChanges) -> SnapshotChanges? {
            let limited = changes.changes.filter { scope.contains($0.path, isDirectory: $0.kind == .directory) }
            return limited.isEmpty ? nil : SnapshotChanges(snapshot: changes.snapshot, changes: limited)
        }
    }

    /// Throws if a path or a pattern names nothing that ever existed, which is a typing error.
    private func requireKnown(_ span: Span) throws {
        if let pattern = span.scope.written { return _ = try span.history.targets([pattern]) }
        try span.history.requireKnown(span.scope.path)
    }

    /// The span of a root; nil if it has no snapshot in `period`.
    private func span(_ history: HistoryContext, _ period: Period) throws -> Span? {
        if let left {
            let (start, end) = try RootContext.answeringHabits(left) {
                let start = try history.snapshot(SnapshotPath(left).selector)
                let end =
                    try right.map { try history.snapshot(SnapshotPath($0).withoutPath("the second argument")) }
                    ?? history.latest()
                return (start, end)
            }
            guard let written = try SnapshotPath(left).path else {
                return Span(history: history, start: start, end: end)
            }
            let path = try history.context.paths(in: history.root).path(written)
            let scope = try history.context.scope(left, at: path, in: [start, end])
            return Span(history: history, start: start, end: end, scope: scope)
        }
        if !times.isGiven {
            let session = try history.archive.sessions(of: history.root, limit: 1).first
            return Span(history: history, start: session?.before, end: try history.latest())
        }
        // The state at the beginning of the period is that of the snapshot before it.
        let before = period.since.map { $0.advanced(byNanoseconds: -1) }
        let start = try before.flatMap { try history.archive.snapshot(of: history.root, at: $0) }
        guard let end = try history.archive.snapshot(of: history.root, at: period.until ?? .now) else { return nil }
        return Span(history: history, start: start, end: end)
    }
}

/// Writes changes by path or by snapshot.
struct ChangesReport {
    private let console: Console

    init(_ console: Console) { self.console = console }

    /// A path's change, and how the path is shown.
    private struct PathRow {
        let history: HistoryContext
        let change: CombinedChange
        /// Whether the path moved only because its directory did.
        let isMovedAlong: Bool
    }

    func writePaths(_ changes: [(HistoryContext, [CombinedChange])]) throws {
        let rows = changes.flatMap { history, changes in
            let moved = ChangesReport.directories(changes.map { ($0.path, $0.otherPath, $0.kind) })
            return changes.map { change in
                PathRow(
                    history: history, change: change,
                    isMovedAlong: ChangesReport.movedAlong(change.path, change.otherPath, moved))
            }
        }
        let style = console.style
        var listing = Listing<PathRow>(
            [
                .pipe { $0.change.change.word }, .pipe { "\($0.change.snapshotCount)" },
                .pipe { $0.history.shown($0.change.path) },
                .pipe { row in row.change.otherPath.map { row.history.shown($0) } ?? "" },
            ], emptiness: ChangesReport.emptiness
        ) { CombinedChangeJSON(root: $0.history.root, change: $0.change) }
        listing.personLines = { row in
            let change = row.change
            // The new name's line shows the rename, and a directory's line that of its contents.
            guard let (sign, mark) = ChangesReport.sign(change.change), change.isEdited || !row.isMovedAlong else {
                return []
            }
            let name = row.history.shown(change.path) + (change.kind == .directory ? "/" : "")
            let from = change.otherPath.map { " (was \(row.history.shown($0)))" } ?? ""
            let times = change.snapshotCount > 1 ? style(.dim, "  in \(change.snapshotCount) snapshots") : ""
            return [style(mark, "\(sign) \(name)") + from + times]
        }
        try listing.write(rows, console)
    }

    private static let emptiness = "Nothing changed."

    /// The sign of a change and its colour; nil for the old name of a rename.
    private static func sign(_ change: CombinedChange.Change) -> (String, Style.Mark)? {
        switch change {
        case .added: ("+", .green)
        case .modified: ("~", .yellow)
        case .deleted: ("-", .red)
        case .renamed: (">", .dim)
        case .transient: (".", .dim)
        case .renamedAway: nil
        }
    }

    func writeTimeline(_ changes: [(HistoryContext, [SnapshotChanges])]) throws {
        var snapshots = changes.flatMap { history, changes in changes.map { (history: history, changes: $0) } }
        if changes.count > 1 { snapshots.sort { $0.changes.snapshot.time < $1.changes.snapshot.time } }
        let style = console.style
        var listing = Listing<TimelineRow>(
            [
                .pipe { $0.snapshot.id.short }, .time("time") { $0.snapshot.time },
                .pipe { $0.version.change.rawValue }, .pipe { $0.history.shown($0.version.path) },
                .pipe { row in row.version.otherPath.map { row.history.shown($0) } ?? "" },
            ], emptiness: ChangesReport.emptiness
        ) { PathVersionJSON($0.version) }
        listing.personLines = { row in
            let version = row.version
            let name = row.history.shown(version.path) + (version.kind == .directory ? "/" : "")
            let line = "          \(name): \(VersionList.words(version))"
            guard row.isFirst else { return [line] }
            let label = row.snapshot.label.map { "  " + Escaping.text($0) } ?? ""
            return [style(.yellow, row.snapshot.id.short) + "  \(LocalTime.text(row.snapshot.time))\(label)", line]
        }
        try listing.write(console) { write in
            for (history, changes) in snapshots {
                var isFirst = true
                for version in console.isForPerson ? ChangesReport.withoutMoved(changes.changes) : changes.changes {
                    try write(
                        TimelineRow(history: history, snapshot: changes.snapshot, version: version, isFirst: isFirst))
                    isFirst = false
                }
            }
        }
    }

    /// A change, and whether it is the first one of its snapshot.
    private struct TimelineRow {
        let history: HistoryContext
        let snapshot: ListedSnapshot
        let version: PathVersion
        let isFirst: Bool
    }

    /// The changes without paths that moved together with their directory: a directory's move is one line.
    private static func withoutMoved(_ changes: [PathVersion]) -> [PathVersion] {
        let moved = directories(changes.map { ($0.path, $0.otherPath, $0.kind) })
        return changes.filter { $0.isEdited || !movedAlong($0.path, $0.otherPath, moved) }
    }

    /// The other names of renamed directories.
    private static func directories(
        _ changes: [(path: RelativePath, other: RelativePath?, kind: FileKind)]
    ) -> [RelativePath: RelativePath] {
        var moved: [RelativePath: RelativePath] = [:]
        for change in changes where change.kind == .directory { moved[change.path] = change.other }
        return moved
    }

    /// Whether a path was renamed only because its directory was.
    private static func movedAlong(
        _ path: RelativePath, _ other: RelativePath?, _ moved: [RelativePath: RelativePath]
    ) -> Bool {
        guard let other, let target = path.parent.flatMap({ moved[$0] }) else { return false }
        return target.appending(path: RelativePath(Array(path.name)) ?? .root) == other
    }
}
