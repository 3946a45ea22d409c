// `archiver changes`: shows all changes between two snapshots, including temporary files.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct ChangesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "changes",
        abstract: "Show the changes since a snapshot, or between two.",
        discussion: """
            Shows for each file + added, ~ modified, - deleted, > renamed or . temporary, and the number of snapshots \
            that changed it. A file has the names of the two snapshots, whatever it was called in between. Without a \
            selector it starts with the latest session. Unlike diff, it also shows changes that were reverted in \
            between, and it reads only the index. In a pipe the columns are separated by tabs: change, snapshots, \
            path, other path; with --timeline: id, time, change, path, other path.

            Examples:
              archiver changes                  # since the latest session began
              archiver changes @1d --timeline   # each snapshot of the last day
            """)

    @Argument(
        help: ArgumentHelp("The earlier snapshot (default: session~1).", valueName: "selector"), completion: .selector)
    var left: ByteArgument?

    @Argument(help: ArgumentHelp("The later snapshot (default: latest).", valueName: "selector"), completion: .selector)
    var right: ByteArgument?

    @Flag(help: "Show changes snapshot by snapshot instead of file by file.")
    var timeline = false

    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let history = try HistoryContext(global, place, paths: left?.pathAfterColon ?? [])
        let (start, path) = try start(history)
        let end =
            try right.map { try history.snapshot(SnapshotPath($0).withoutPath("the second argument")) }
            ?? history.latest()
        let report = ChangesReport(history.console)
        if timeline {
            let changes = try history.indexing {
                try history.archive.changes(in: history.root, after: start, through: end, at: path, progress: $0)
            }
            if changes.isEmpty { try history.requireKnown(path) }
            try report.writeTimeline(changes)
        } else {
            let changes = try history.indexing {
                try history.archive.combinedChanges(
                    in: history.root, after: start, through: end, at: path, progress: $0)
            }
            if changes.isEmpty { try history.requireKnown(path) }
            try report.writePaths(changes)
        }
        try history.reportDamage()
    }

    /// The snapshot to start after, and the path to limit the changes to.
    ///
    /// The snapshot is nil if the latest session began with the first snapshot.
    private func start(_ history: HistoryContext) throws -> (snapshot: ListedSnapshot?, path: RelativePath) {
        guard let left else {
            return (try history.archive.sessions(of: history.root, limit: 1).first?.before, .root)
        }
        let named = try SnapshotPath(left)
        let path = try history.context.paths(in: history.root).path(named.path ?? [])
        return (try history.snapshot(named.selector), path)
    }
}

/// Writes changes by path or by snapshot.
struct ChangesReport {
    private let console: Console

    init(_ console: Console) { self.console = console }

    func writePaths(_ changes: [CombinedChange]) throws {
        let moved = ChangesReport.directories(changes.map { ($0.path, $0.otherPath, $0.kind) })
        let style = console.style
        var listing = Listing<CombinedChange>(
            [
                .pipe { $0.change.word }, .pipe { "\($0.snapshotCount)" }, .pipe { Escaping.text($0.path) },
                .pipe { $0.otherPath.map { Escaping.text($0) } ?? "" },
            ], emptiness: ChangesReport.emptiness
        ) { CombinedChangeJSON($0) }
        listing.personLines = { change in
            // The new name's line shows the rename, and a directory's line that of its contents.
            guard let (sign, mark) = ChangesReport.sign(change.change),
                change.isEdited || !ChangesReport.movedAlong(change.path, change.otherPath, moved)
            else { return [] }
            let name = Escaping.text(change.path) + (change.kind == .directory ? "/" : "")
            let from = change.otherPath.map { " (was \(Escaping.text($0)))" } ?? ""
            let times = change.snapshotCount > 1 ? style(.dim, "  in \(change.snapshotCount) snapshots") : ""
            return [style(mark, "\(sign) \(name)") + from + times]
        }
        try listing.write(changes, console)
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

    func writeTimeline(_ changes: [SnapshotChanges]) throws {
        let style = console.style
        var listing = Listing<TimelineRow>(
            [
                .pipe { $0.snapshot.id.short }, .time("time") { $0.snapshot.time },
                .pipe { $0.version.change.rawValue }, .pipe { Escaping.text($0.version.path) },
                .pipe { $0.version.otherPath.map { Escaping.text($0) } ?? "" },
            ], emptiness: ChangesReport.emptiness
        ) { PathVersionJSON($0.version) }
        listing.personLines = { row in
            let version = row.version
            let name = Escaping.text(version.path) + (version.kind == .directory ? "/" : "")
            let line = "          \(name): \(VersionList.words(version))"
            guard row.isFirst else { return [line] }
            let label = row.snapshot.label.map { "  " + Escaping.text($0) } ?? ""
            return [style(.yellow, row.snapshot.id.short) + "  \(LocalTime.text(row.snapshot.time))\(label)", line]
        }
        try listing.write(console) { write in
            for changes in changes {
                var isFirst = true
                for version in console.isForPerson ? ChangesReport.withoutMoved(changes.changes) : changes.changes {
                    try write(TimelineRow(snapshot: changes.snapshot, version: version, isFirst: isFirst))
                    isFirst = false
                }
            }
        }
    }

    /// A change, and whether it is the first one of its snapshot.
    private struct TimelineRow {
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
