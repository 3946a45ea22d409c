// `archiver prune`: applies the retention policies and reclaims space.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import Replicas

struct PruneCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "prune",
        abstract: "Apply the retention policies and reclaim disk space.",
        discussion: """
            Watchers do this automatically. Data that is still needed is moved to new segments, and the old segments \
            are deleted. Captures and restores can run at the same time. An interruption loses no data; run the \
            command again to finish the job. With --dry-run nothing changes, and the size is an estimate. What was \
            forgotten in the last 7 days stays, so that 'archiver unforget' can bring it back; --now reclaims that \
            too.

            If the archive is larger than 'archiver keep --max-size', or its disk has less free space than \
            --min-free, forgotten snapshots are reclaimed immediately, and more are forgotten, but only if that is \
            enough: first those that 'archiver keep --usual' would thin out, then more old ones than new ones, none \
            of the last hour, and at most half of a directory's snapshots at once. 'archiver unforget --last' brings \
            them back for a day, unless the disk is full. If the limits cannot be reached, nothing is forgotten, the \
            causes are named, and the exit code is 3. It is also 3 if the disk is too full to move the data that is \
            still needed, or if more than 'archiver keep --local-size' allows stays on this disk. With --dry-run, the \
            exit code is that of the run.

            Examples:
              archiver prune --dry-run
              archiver prune
            """)

    @OptionGroup var change: ChangeOptions

    @Flag(help: "Do at once what otherwise waits.")
    var now = false

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let archive = try global.openArchive()
        let isInterrupted = Interruptions.flag()
        let progress = OperationProgress()
        let line = ProgressLine("pruning \(Escaping.text(archive.directory.bytes))", progress, console)
        var options = MaintenanceOptions()
        options.isDryRun = change.dryRun
        if now { options.grace = .zero }
        let result: MaintenanceResult
        let evicted: EvictionResult?
        do {
            defer { line.end() }
            result = try archive.maintain(options, isCancelled: isInterrupted, progress: progress)
            // What a dry run says is what the run would do behind the prune.
            let freed = change.dryRun ? result.pruned?.freedBytes ?? 0 : 0
            evicted = try archive.evictSegments(isDryRun: change.dryRun, freed: freed, isCancelled: isInterrupted)
        }
        if console.isJSON {
            let eviction = EvictionJSON(evicted, isDryRun: change.dryRun)
            try console.output.line(JSONText.of(MaintenanceJSON(result, isDryRun: change.dryRun, eviction: eviction)))
        } else {
            try console.summary(MaintenanceText.text(result, isDryRun: change.dryRun))
            if let text = MaintenanceText.waiting(result, isDryRun: change.dryRun) { try console.summary(text) }
            if let evicted { try console.summary(EvictionText.text(evicted)) }
        }
        let staying = evicted?.problems ?? []
        console.warn(staying, count: staying.count, limit: 10) { Escaping.text($0) }
        let damaged = result.pruned?.damaged ?? []
        console.warn(damaged, count: damaged.count, limit: 10) { Escaping.text($0) }
        if !damaged.isEmpty { throw ExitStatus.damaged }
        if result.isShort { console.warn("archiver: \(MaintenanceText.shortage(result, isDryRun: change.dryRun))") }
        let withoutRoom = result.pruned.flatMap(MaintenanceText.withoutRoom)
        // The summary says it, where there is one.
        if let withoutRoom, console.isJSON || console.isQuiet { console.warn("archiver: \(withoutRoom)") }
        if result.isShort || withoutRoom != nil || evicted?.isShort ?? false { throw ExitStatus.incomplete }
    }
}
