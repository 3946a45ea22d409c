// `archiver keep`: the retention policies and the space limits of the archive.

internal import ArchiverKit
internal import ArgumentParser
internal import Configuring
internal import Replicas

struct KeepCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "keep",
        abstract: "Show or set which snapshots are kept.",
        discussion: """
            By default everything is kept. With tiers, the first snapshot of each minute, hour, day or week is kept up \
            to an age; watchers, or --now, forget the others. Always kept are the newest snapshot of a root, pinned \
            and labelled ones, those before and after operations of the last 30 days, pauses and mass changes, and the \
            last one with a file that was deleted later. Until forgotten snapshots are reclaimed, 'archiver unforget' \
            brings them back. With --reset, a root follows the policy for all roots again; without a root, everything \
            is kept and the limits are the usual ones again.

            With --local-size, watchers and 'archiver prune' remove old segments from this disk that a replica has, those \
            least recently read first; commands read them from there when they need them. That needs an identity without \
            a passphrase: the one of 'archiver replica add', or --identity here. With 'none' no more segments leave, and \
            'archiver replica fetch' brings them back. With --dry-run or --now, the exit code is 3 if more stays.

            Examples:
              archiver keep                     # show the policies
              archiver keep --each 2h --hourly 30d --daily 1y --weekly forever
              archiver keep --usual --root ~/build
              archiver keep --everything        # the default
              archiver keep --max-size 20G --min-free 10%
              archiver keep --local-size 20G --identity ~/desk.key
            """)

    @Flag(help: "Keep everything.")
    var everything = false

    @Flag(help: "Keep all for 1h, one a minute for 1d, one an hour for 14d, one a day for 90d, one a week forever.")
    var usual = false

    @Option(help: ArgumentHelp("Keep all snapshots for this long: 90m, 2h, 30d, 1y, forever.", valueName: "span"))
    var each: SpanArgument?

    @Option(help: ArgumentHelp("Keep one snapshot a minute for this long.", valueName: "span"))
    var minutely: SpanArgument?

    @Option(help: ArgumentHelp("Keep one snapshot an hour for this long.", valueName: "span"))
    var hourly: SpanArgument?

    @Option(help: ArgumentHelp("Keep one snapshot a day for this long.", valueName: "span"))
    var daily: SpanArgument?

    @Option(help: ArgumentHelp("Keep one snapshot a week for this long.", valueName: "span"))
    var weekly: SpanArgument?

    @Flag(help: "Return to the default, except for options given here.")
    var reset = false

    @Option(help: ArgumentHelp("The archive's maximum size: 500M, 20G, none.", valueName: "size"))
    var maxSize: LimitArgument?

    @Option(help: ArgumentHelp("The space to leave free on the archive's file system: 10%, 5G.", valueName: "size"))
    var minFree: FreeArgument?

    @Option(
        help: ArgumentHelp(
            "The most of the archive to keep on this disk; the rest only in a replica: 20G, none.", valueName: "size"))
    var localSize: LimitArgument?

    @OptionGroup var change: ChangeOptions

    @Flag(help: "Do at once what otherwise waits.")
    var now = false

    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    private var hasTiers: Bool {
        [each, minutely, hourly, daily, weekly].contains { $0 != nil }
    }

    func validate() throws {
        let ways = [everything, usual, hasTiers, reset].count { $0 }
        if ways > 1 { throw ValidationError("--everything, --usual, --reset and tiers exclude each other") }
        if change.dryRun && now { throw ValidationError("--dry-run and --now exclude each other") }
        if localSize != nil, change.dryRun || now, ways + (maxSize == nil ? 0 : 1) + (minFree == nil ? 0 : 1) > 0 {
            throw ValidationError("with --dry-run and --now, give --local-size alone")
        }
        if place.root != nil || place.host != nil, maxSize != nil || minFree != nil || localSize != nil {
            throw ValidationError(
                "--max-size, --min-free and --local-size apply to the whole archive: leave out --root and --host")
        }
    }

    func run() throws {
        let console = Console(global)
        let archive = try global.openArchive()
        let root = place.root != nil || place.host != nil ? try RootContext(archive, place).oneRoot() : nil
        let policy = try given(archive, root)
        let size = try localSize.map { try given($0, archive) }
        if !change.dryRun {
            try requireUnconfigured(root)
            if reset {
                try archive.setPolicy(nil, of: root)
            } else if let policy {
                try archive.setPolicy(policy, of: root)
            }
            let resetsBudget = reset && root == nil
            if maxSize != nil || minFree != nil || resetsBudget {
                try archive.setBudget(budget(resetsBudget ? StorageBudget() : archive.budget()))
            }
        }
        if let size { try archive.setLocalSize(size, isDryRun: change.dryRun) }
        if let size, change.dryRun || now {
            return try report(archive.evictSegments(size, isDryRun: change.dryRun), console)
        }
        if change.dryRun || now {
            // A policy for all roots does not apply to roots with their own policy.
            let plans = try archive.thin(ThinningOptions(root: root, policy: policy, isDryRun: change.dryRun))
            return try report(plans, console)
        }
        let summary = try KeepingSummary(archive)
        if console.isJSON { return try console.output.line(JSONText.of(KeepingSummaryJSON(summary))) }
        for line in KeepingText.lines(summary) { try console.output.line(line) }
        let room = try archive.room()
        if room.isShort {
            console.remark(
                "The archive exceeds its limits by \(ByteCount.text(room.lackingBytes)): a watcher, or "
                    + "'archiver prune', forgets old snapshots until it fits.")
        }
    }

    /// What the configuration sets would return at the next start of the service.
    private func requireUnconfigured(_ root: ArchivedRoot?) throws {
        let configuration = try ServiceConfiguration.present
        let setsPolicy = everything || usual || hasTiers || reset
        let document = configuration.document
        let policy =
            root.map { root in
                root.isHere ? configuration.root(at: root.path)?.source.keep : nil
            } ?? document.keep
        let table = setsPolicy ? policy : nil
        guard let line = (table ?? (maxSize != nil || minFree != nil ? document.budget : nil))?.line else { return }
        throw Failure.usage(
            "this is set by \(Escaping.text(configuration.place(line)))",
            remedy: "change it there; 'archiver reload' applies it")
    }

    /// The policy on the command line; nil if none is given.
    private func given(_ archive: Archive, _ root: ArchivedRoot?) throws -> RetentionPolicy? {
        if everything { return .everything }
        if usual { return .usual }
        if reset { return root == nil ? .everything : try archive.policy() }
        guard hasTiers else { return nil }
        return try RetentionPolicy(
            all: each?.span, minutely: minutely?.span, hourly: hourly?.span, daily: daily?.span, weekly: weekly?.span)
    }

    /// The size to keep on the local disk; the identity stays known, as segments may be away.
    private func given(_ limit: LimitArgument, _ archive: Archive) throws -> LocalSize {
        var size = try archive.localSize()
        size.bytes = limit.bytes
        guard let file = global.identity?.path else { return size }
        if file.string == "-" {
            throw Failure.usage("--local-size needs the identity in a file: it is read again and again")
        }
        size.identityFile = file.absolute.string
        return size
    }

    private func report(_ result: EvictionResult?, _ console: Console) throws {
        if console.isJSON {
            try console.output.line(JSONText.of(EvictionJSON(result, isDryRun: change.dryRun)))
        } else {
            try console.output.line(result.map(EvictionText.text) ?? "no segment leaves this disk")
        }
        guard let result else { return }
        console.warn(result.problems, count: result.problems.count, limit: 10) { Escaping.text($0) }
        if result.isShort { throw ExitStatus.incomplete }
    }

    private func budget(_ present: StorageBudget) -> StorageBudget {
        var budget = present
        if let maxSize { budget.maxSize = maxSize.bytes }
        if let minFree {
            budget.minFreeBytes = minFree.bytes
            budget.minFreePercent = minFree.percent
        }
        return budget
    }

    private func report(_ plans: [ThinningPlan], _ console: Console) throws {
        if console.isJSON {
            return try console.output.line(JSONText.of(ThinningJSON(plans: plans, isDryRun: change.dryRun)))
        }
        for line in KeepingText.lines(plans, isDryRun: change.dryRun) { try console.output.line(line) }
        if !change.dryRun, plans.contains(where: { !$0.going.isEmpty }) {
            console.remark("'archiver unforget --last' brings back what was forgotten.")
        }
    }
}

extension SpanArgument {
    fileprivate var span: RetentionPolicy.Span { seconds.map { .seconds($0) } ?? .forever }
}
