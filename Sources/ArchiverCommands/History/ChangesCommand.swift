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
            that changed it. Without a selector it starts with the latest session. Unlike diff, it also shows changes \
            that were reverted in between, and it reads only the index. In a pipe the columns are separated by tabs: \
            change, snapshots, path, other path; with --timeline: id, time, change, path, other path.

            Examples:
              archiver changes                  since the latest session began
              archiver changes @1d --timeline   each snapshot of the last day
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
        let history = try HistoryContext(global, place)
        let (start, path) = try start(history)
        let end =
            try right.map { try history.context.snapshot(SnapshotPath($0).withoutPath("the second argument")) }
            ?? history.latest()
        for side in [start, end].compactMap({ $0 }) where side.root != history.root {
            throw Failure.usage(
                "snapshot \(side.id.short) belongs to \(Escaping.text(side.rootPath)), not to "
                    + Escaping.text(history.root.path.bytes),
                remedy: "name the root with --root DIR")
        }
        let changes = try history.indexing {
            try history.archive.changes(in: history.root, after: start, through: end, at: path, progress: $0)
        }
        if changes.isEmpty { try history.requireKnown(path) }
        let report = ChangesReport(history.console)
        try timeline ? report.writeTimeline(changes) : report.writePaths(changes)
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
        return (try history.context.snapshot(named.selector), path)
    }
}

/// Writes changes by path or by snapshot.
struct ChangesReport {
    private let console: Console

    init(_ console: Console) { self.console = console }

    /// The combined change of one path.
    private struct Summary {
        var first: PathVersion
        var last: PathVersion
        var snapshots: Int

        /// "+", "~", "-", ">", "." for a temporary path, or "" for a path that was renamed away.
        var sign: String {
            let wasThere = first.change != .added && first.change != .renamed
            switch (wasThere, last.isPresent) {
            case (false, true): return first.change == .renamed ? ">" : "+"
            case (true, true): return "~"
            case (true, false): return last.change == .renamedAway ? "" : "-"
            case (false, false): return "."
            }
        }

        var word: String {
            switch sign {
            case "+": "added"
            case "~": "modified"
            case "-": "deleted"
            case ">": "renamed"
            case ".": "transient"
            default: "renamedAway"
            }
        }

        var mark: Style.Mark {
            switch sign {
            case "+": .green
            case "-": .red
            case "~": .yellow
            default: .dim
            }
        }
    }

    func writePaths(_ changes: [SnapshotChanges]) throws {
        var summaries: [RelativePath: Summary] = [:]
        for snapshot in changes {
            for version in ChangesReport.withoutMoved(snapshot.changes) {
                if summaries[version.path] == nil {
                    summaries[version.path] = Summary(first: version, last: version, snapshots: 1)
                } else {
                    summaries[version.path]?.last = version
                    summaries[version.path]?.snapshots += 1
                }
            }
        }
        let sorted = summaries.sorted { $0.key < $1.key }.map(\.value)
        if console.isJSON {
            var writer = try JSONArrayWriter(console.output)
            for summary in sorted {
                try writer.append(
                    PathSummaryJSON(
                        path: summary.last.path, word: summary.word, snapshots: summary.snapshots,
                        other: (summary.sign == ">" ? summary.first : summary.last).otherPath))
            }
            return try writer.finish()
        }
        if sorted.isEmpty { return console.remark("Nothing changed.") }
        for summary in sorted {
            let other = (summary.sign == ">" ? summary.first : summary.last).otherPath
            guard console.isForPerson else {
                try console.output.line(
                    TextTable.plain([
                        summary.word, "\(summary.snapshots)", Escaping.text(summary.last.path),
                        other.map { Escaping.text($0) } ?? "",
                    ]))
                continue
            }
            // The new name's line shows the rename.
            if summary.sign.isEmpty { continue }
            let name = Escaping.text(summary.last.path) + (summary.last.kind == .directory ? "/" : "")
            let from = summary.sign == ">" ? other.map { " (was \(Escaping.text($0)))" } ?? "" : ""
            let times = summary.snapshots > 1 ? console.style(.dim, "  in \(summary.snapshots) snapshots") : ""
            try console.output.line(console.style(summary.mark, "\(summary.sign) \(name)") + from + times)
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
                            snapshot.id.short, snapshot.time.rfc3339, version.change.rawValue,
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
        var moved: [RelativePath: RelativePath] = [:]
        for version in changes where version.kind == .directory {
            if let other = version.otherPath { moved[version.path] = other }
        }
        if moved.isEmpty { return changes }
        return changes.filter { version in
            guard let parent = version.path.parent, let other = version.otherPath, let target = moved[parent] else {
                return true
            }
            return target.appending(path: RelativePath(Array(version.path.name)) ?? .root) != other
        }
    }
}

/// The combined change of a path as `changes --json` shows it.
struct PathSummaryJSON: Encodable {
    let path: RelativePath
    let word: String
    let snapshots: Int
    let other: RelativePath?

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: path.bytes, forKey: "path")
        try object.encode(word, forKey: "change")
        try object.encode(snapshots, forKey: "snapshots")
        if let other { try object.encode(bytes: other.bytes, forKey: "otherPath") }
    }
}
