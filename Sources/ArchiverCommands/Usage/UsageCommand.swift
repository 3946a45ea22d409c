// `archiver usage`: shows what uses the archive's space.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct UsageCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "usage",
        abstract: "Show what uses the archive's space.",
        discussion: """
            In a root, lists each file and directory with the bytes that only it uses, over all snapshots, and its \
            number of file versions; name a directory to list its contents. Elsewhere, lists the roots. Data that \
            several of them share is counted separately. With --by day and --by snapshot, lists the bytes that each \
            day or snapshot added. Below the table are the space that can be reclaimed, the space that 'archiver keep \
            --usual' would free, the archive's growth, and when its space is used up. With --format lines the columns are \
            separated by tabs: bytes, versions or snapshots, name. A terminal shows 40 rows, unless -n is given.

            Examples:
              archiver usage                  # what is large in the current root
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

    @Option(name: .limit, help: .limit) var limit: Int?
    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        try WindowOptions.check(limit: limit)
        if directory != nil, let by, by != .path { throw ValidationError("a directory requires --by path") }
    }

    func run() throws {
        let console = Console(global)
        let archive = try global.openArchive()
        let context = try RootContext(archive, place, paths: directory.map { [$0.pathInIt] } ?? [])
        switch by ?? (context.root == nil && directory == nil ? .root : .path) {
        case .day: try writeDays(archive.dailyUsage(of: context.root), console)
        case .snapshot: try writeSnapshots(archive.snapshots(SnapshotQuery(root: context.root)), console)
        case .root: try write(usage(archive, .root, console), of: archive, console)
        case .path:
            let root = try context.oneRoot()
            let path = try directory.map { try HistoryContext(context, root, console).target($0).path } ?? .root
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
            try write(usage, of: archive, console)
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
        min(count, limit ?? (console.isShortened ? 40 : count))
    }

    private func write(_ usage: ArchiveUsage, of archive: Archive, _ console: Console) throws {
        let count = shown(usage.items.count, console)
        if console.isJSON { return try console.output.line(JSONText.of(UsageJSON(usage, limit: count))) }
        let items = Listing<ArchiveUsage.Item>(
            [
                .bytes("bytes") { $0.ownBytes },
                .text("versions", alignment: .right) { $0.versions > 0 ? "\($0.versions)" : "" },
                .text("what", isElastic: true) { UsageText.name($0) },
            ], emptiness: UsageCommand.emptiness
        ) { _ in "" }
        try items.write(usage.items.prefix(count), console, older: UsageCommand.more(usage.items.count - count))
        guard console.isForPerson else { return }
        let away = EvictionText.line(try archive.segmentPlaces()).map { [$0] } ?? []
        for line in UsageText.lines(usage) + away { try console.output.line(console.wrapped(line)) }
    }

    private func writeDays(_ days: [DailyUsage], _ console: Console) throws {
        // With a limit, the newest days are shown.
        let last = days.suffix(shown(days.count, console))
        try Listing<DailyUsage>(
            [
                .bytes("bytes") { $0.storedBytes }, .text("snapshots", alignment: .right) { "\($0.snapshots)" },
                .text("day (UTC)") { UsageText.day($0.day) },
            ], emptiness: UsageCommand.emptiness
        ) { DailyUsageJSON($0) }
        .write(last, console, older: UsageCommand.more(days.count - last.count))
    }

    private func writeSnapshots(_ snapshots: [ListedSnapshot], _ console: Console) throws {
        let largest = snapshots.sorted { $0.storedBytes > $1.storedBytes }.prefix(shown(snapshots.count, console))
        func made(_ snapshot: ListedSnapshot, _ time: String) -> String {
            time + "  " + Escaping.text(snapshot.rootPath)
        }
        try Listing<ListedSnapshot>(
            [
                .bytes("bytes") { $0.storedBytes }, .text("id", mark: .yellow) { $0.id.short },
                .text(
                    "made", isElastic: true, person: { made($0, LocalTime.text($0.time)) },
                    pipe: { made($0, LocalTime.plain($0.time)) }),
            ], emptiness: UsageCommand.emptiness
        ) { SnapshotJSON($0) }
        .write(largest, console, older: UsageCommand.more(snapshots.count - largest.count))
    }

    private static let emptiness = "The archive holds no snapshots yet."

    private static func more(_ count: Int) -> String? { count > 0 ? "\(count) more; -n shows them." : nil }
}
