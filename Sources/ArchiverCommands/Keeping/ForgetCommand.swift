// `archiver forget` and `archiver unforget`: remove snapshots and states from the lists, and bring them back.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct ForgetCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "forget",
        abstract: "Forget snapshots or saved states; 'unforget' brings them back.",
        discussion: """
            Forgotten snapshots are not listed and cannot be restored until 'archiver unforget' brings them back. \
            Their data stays in the archive until it is reclaimed. With --since and --until, all snapshots of that \
            period are forgotten, except pinned and labelled ones, the newest one of the root, and those that 'archiver \
            undo' needs for the operations of the last 30 days. A root always keeps at least one snapshot.

            Examples:
              archiver forget 3fa9c2 latest~3
              archiver forget --until 2026-01-31 --root ~/thesis --dry-run
            """)

    @Argument(
        help: ArgumentHelp("Snapshots or saved states (id, latest, @10m, label).", valueName: "selector"),
        completion: .selector)
    var selectors: [ByteArgument] = []

    @OptionGroup var range: PeriodOptions
    @OptionGroup var change: ChangeOptions

    @Option(help: .state) var state: String?
    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        let isRange = range.isGiven
        if selectors.isEmpty && !isRange { throw ValidationError("name snapshots, or give --since or --until") }
        if !selectors.isEmpty && isRange {
            throw ValidationError("name snapshots, or give --since and --until, not both")
        }
        if isRange && state != nil { throw ValidationError("--since and --until are for snapshots") }
    }

    func run() throws {
        let console = Console(global)
        let context = try RootContext(global.openArchive(), place)
        if selectors.isEmpty {
            let root = try context.oneRoot()
            let period = try range.period()
            let query = SnapshotQuery(root: root, since: period.since, until: period.until)
            let result = try context.archive.forget(query, isDryRun: change.dryRun)
            return try report(result.forgotten.map(Selection.snapshot), result.kept, console)
        }
        let selected = try selectors.map { try context.whole($0, titled: state) }
        let needed = try context.archive.forget(selected, isDryRun: change.dryRun)
        try report(selected, [], console)
        if let first = needed.first, !console.isJSON {
            let others = needed.count > 1 ? " and \(needed.count - 1) more" : ""
            console.warn("archiver: without \(first.name)\(others), 'archiver undo' cannot bring that state back")
        }
    }

    private func report(
        _ forgotten: [Selection], _ kept: [(snapshot: ListedSnapshot, reason: ForgettingResult.Reason)],
        _ console: Console
    ) throws {
        if console.isJSON {
            return try console.output.line(
                JSONText.of(ForgettingJSON(forgotten: forgotten, kept: kept, isDryRun: change.dryRun)))
        }
        let verb = change.dryRun ? "would forget" : "forgot"
        if change.dryRun || forgotten.count <= 3 {
            for one in forgotten { try console.summary("\(verb) \(one.name) (\(LocalTime.text(one.time)))") }
        }
        if forgotten.count != 1 { try console.summary("\(verb) \(Plural.of(forgotten.count, "snapshot"))") }
        for reason in ForgettingResult.Reason.allCases {
            let count = kept.count { $0.reason == reason }
            if count > 0 { try console.summary("kept \(Plural.of(count, "snapshot")): \(KeepingText.words(reason))") }
        }
        if !change.dryRun, !forgotten.isEmpty {
            console.remark("'archiver unforget --last' brings back what was forgotten.")
        }
    }
}

struct UnforgetCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "unforget",
        abstract: "Bring back forgotten snapshots and saved states.",
        discussion: """
            'archiver list --forgotten' lists what can be brought back. This is possible until the data is reclaimed.

            Examples:
              archiver unforget 3fa9c2
              archiver unforget --last          # everything that was forgotten last
            """)

    @Argument(help: ArgumentHelp("Ids, as 'archiver list --forgotten' shows them.", valueName: "id"))
    var ids: [String] = []

    @Flag(help: "Bring back everything that the last 'forget' removed.")
    var last = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if ids.isEmpty != last { throw ValidationError("name ids, or give --last") }
    }

    func run() throws {
        let console = Console(global)
        let archive = try global.openArchive()
        let found = last ? try archive.forgottenLast() : try ids.map { try archive.forgotten(withIDPrefix: $0) }
        if found.isEmpty { throw Failure.unsuitable("nothing is forgotten", remedy: "see 'archiver list --forgotten'") }
        try archive.unforget(found)
        let selected = found.compactMap(\.selected)
        if console.isJSON { return try console.output.line(JSONText.of(selected.map(SelectionJSON.init))) }
        if selected.count <= 3 {
            for one in selected { try console.summary("brought back \(one.name) (\(LocalTime.text(one.time)))") }
        } else {
            try console.summary("brought back \(selected.count) snapshots")
        }
    }
}
