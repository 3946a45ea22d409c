// `archiver usage`: shows what uses the archive's space.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct UsageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "usage",
        abstract: "Show what uses the archive's space.",
        discussion: """
            In a root, lists each file and directory with the bytes that only it uses, over all snapshots, and its \
            number of file versions; name a directory to list its contents. Elsewhere, lists the roots. Data that \
            several of them share is counted separately. With --by day and --by snapshot, lists the bytes that each \
            day or snapshot added. Below the table are the space that can be reclaimed, the space that 'archiver keep \
            --usual' would free, the archive's growth, and when its space is used up. In a pipe the columns are \
            separated by tabs: bytes, versions or snapshots, name.

            Examples:
              archiver usage                  large files and directories of the current root
              archiver usage figures/
              archiver usage --by day --json
            """)

    /// The grouping of the bytes.
    enum Grouping: String, ExpressibleByArgument, CaseIterable {
        case path, root, day, snapshot
    }

    @Argument(help: ArgumentHelp("The directory to show (default: the root's top).", valueName: "dir"))
    var directory: ByteArgument?

    @Option(help: ArgumentHelp("Group by path, root, day or snapshot.", valueName: "what"))
    var by: Grouping?

    @Option(help: ArgumentHelp("Show at most this many lines (default on a terminal: 40).", valueName: "count"))
    var limit: Int?

    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
        if directory != nil, let by, by != .path { throw ValidationError("a directory requires --by path") }
    }

    func run() throws {
        let console = Console(global)
        let archive = try global.openArchive()
        let context = try RootContext(archive, place)
        switch by ?? (context.root == nil && directory == nil ? .root : .path) {
        case .day: try writeDays(archive.dailyUsage(of: context.root), console)
        case .snapshot: try writeSnapshots(archive.snapshots(SnapshotQuery(root: context.root)), console)
        case .root: try write(usage(archive, .root, console), console)
        case .path:
            let root = try context.oneRoot()
            let path = try context.paths(in: root).path(directory?.bytes ?? Array(":/".utf8))
            let usage = try usage(archive, .path(root: root, directory: path), console)
            let holds = usage.items.contains { item in
                if case .path = item.owner { true } else { false }
            }
            if !path.isRoot, !holds {
                throw Failure(
                    status: .failed, code: ArchiverError.Code.noSuchPath.rawValue,
                    message: "no snapshot of \(Escaping.text(root.path.bytes)) holds files in '\(Escaping.text(path))'",
                    remedy: "'archiver find' searches for a name", path: path.bytes)
            }
            try write(usage, console)
        }
    }

    private func usage(
        _ archive: Archive, _ grouping: ArchiveUsage.Grouping, _ console: Console
    ) throws -> ArchiveUsage {
        let progress = OperationProgress()
        let line = ProgressLine("measuring \(Escaping.text(archive.directory.bytes))", progress, console)
        defer { line.end() }
        return try archive.usage(by: grouping, progress: progress)
    }

    // MARK: Writing

    /// The number of lines to write out of `count`.
    private func shown(_ count: Int, _ console: Console) -> Int {
        min(count, limit ?? (console.isForPerson ? 40 : count))
    }

    private func write(_ usage: ArchiveUsage, _ console: Console) throws {
        let count = shown(usage.items.count, console)
        if console.isJSON { return try console.output.line(JSONText.of(UsageJSON(usage, limit: count))) }
        let rows = usage.items.prefix(count).map { item in
            [
                UsageText.bytes(item.ownBytes, console), item.versions > 0 ? "\(item.versions)" : "",
                UsageText.name(item),
            ]
        }
        try write(rows, of: usage.items.count, second: "versions", "what", console)
        if console.isForPerson { for line in UsageText.lines(usage) { try console.output.line(line) } }
    }

    private func writeDays(_ days: [DailyUsage], _ console: Console) throws {
        // With a limit, the newest days are shown.
        let last = days.suffix(shown(days.count, console))
        if console.isJSON { return try console.output.line(JSONText.of(last.map(DailyUsageJSON.init))) }
        let rows = last.map { day in
            [UsageText.bytes(day.storedBytes, console), "\(day.snapshots)", UsageText.day(day.day)]
        }
        try write(rows, of: days.count, second: "snapshots", "day (UTC)", console)
    }

    private func writeSnapshots(_ snapshots: [ListedSnapshot], _ console: Console) throws {
        let largest = snapshots.sorted { $0.storedBytes > $1.storedBytes }.prefix(shown(snapshots.count, console))
        if console.isJSON { return try console.output.line(JSONText.of(largest.map(SnapshotJSON.init))) }
        let rows = largest.map { snapshot in
            [
                UsageText.bytes(snapshot.storedBytes, console), snapshot.id.short,
                (console.isForPerson ? LocalTime.text(snapshot.time) : snapshot.time.rfc3339) + "  "
                    + Escaping.text(snapshot.rootPath),
            ]
        }
        try write(rows, of: snapshots.count, second: "id", "made", console)
    }

    private func write(
        _ rows: [[String]], of count: Int, second: String, _ last: String, _ console: Console
    ) throws {
        guard console.isForPerson else {
            for row in rows { try console.output.line(TextTable.plain(row)) }
            return
        }
        if rows.isEmpty { return console.remark("The archive holds no snapshots yet.") }
        var table = TextTable([
            TextTable.Column(title: "bytes", alignment: .right), TextTable.Column(title: second, alignment: .right),
            TextTable.Column(title: last, isElastic: true),
        ])
        for row in rows { table.add(row) }
        for line in table.aligned(console.style, width: console.output.columns) { try console.output.line(line) }
        if rows.count < count { console.remark("\(count - rows.count) more; --limit shows them.") }
    }
}
