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
        if console.isJSON {
            var writer = try JSONArrayWriter(console.output)
            for change in changes { try writer.append(CombinedChangeJSON(change)) }
            return try writer.finish()
        }
        if changes.isEmpty { return console.remark("Nothing changed.") }
        guard console.isForPerson else {
            for change in changes {
                try console.output.line(
                    TextTable.plain([
                        change.change.rawValue, "\(change.snapshotCount)", Escaping.text(change.path),
                        change.otherPath.map { Escaping.text($0) } ?? "",
                    ]))
            }
            return
        }
        let moved = ChangesReport.directories(changes.map { ($0.path, $0.otherPath, $0.kind) })
        for change in changes {
            // The new name's line shows the rename, and a directory's line that of its contents.
            guard let (sign, mark) = ChangesReport.sign(change.change),
                change.isEdited || !ChangesReport.movedAlong(change.path, change.otherPath, moved)
            else { continue }
            let name = Escaping.text(change.path) + (change.kind == .directory ? "/" : "")
            let from = change.otherPath.map { " (was \(Escaping.text($0)))" } ?? ""
            let times = change.snapshotCount > 1 ? console.style(.dim, "  in \(change.snapshotCount) snapshots") : ""
            try console.output.line(console.style(mark, "\(sign) \(name)") + from + times)
        }
    }

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
        if console.isJSON {
            var writer = try JSONArrayWriter(console.output)
            for snapshot in changes {
                for version in snapshot.changes { try writer.append(PathVersionJSON(version)) }
            }
            return try writer.finish()
        }
        if changes.isEmpty { return console.remark("Nothing changed.") }
        for changes in changes {
            let snapshot = changes.snapshot
            if console.isForPerson {
                let label = snapshot.label.map { "  " + Escaping.text($0) } ?? ""
                try console.output.line(
                    console.style(.yellow, snapshot.id.short) + "  \(LocalTime.text(snapshot.time))\(label)")
            }
            for version in console.isForPerson ? ChangesReport.withoutMoved(changes.changes) : changes.changes {
                guard console.isForPerson else {
                    try console.output.line(
                        TextTable.plain([
                            snapshot.id.short, LocalTime.plain(snapshot.time), version.change.rawValue,
                            Escaping.text(version.path), version.otherPath.map { Escaping.text($0) } ?? "",
                        ]))
                    continue
                }
                let name = Escaping.text(version.path) + (version.kind == .directory ? "/" : "")
                try console.output.line("          \(name): \(VersionList.words(version))")
            }
        }
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

/// The combined change of a path as `changes --json` shows it.
struct CombinedChangeJSON: Encodable {
    private let change: CombinedChange

    init(_ change: CombinedChange) { self.change = change }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: change.path.bytes, forKey: "path")
        try object.encode(change.change.rawValue, forKey: "change")
        try object.encode(change.snapshotCount, forKey: "snapshots")
        if let other = change.otherPath { try object.encode(bytes: other.bytes, forKey: "otherPath") }
    }
}
