// `archiver prune`: forgets what the policies let go, and gives space back.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct PruneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Forget what the policies let go, and give space back to the file system.",
        discussion: """
            A watcher does this by itself. What is still needed is copied together, and what nothing needs goes. Watchers \
            and restores go on meanwhile. Interrupted, the same command finishes the job: nothing is ever missing. With \
            --dry-run nothing changes, and the size afterwards is an estimate. What was forgotten in the last 7 days stays, so \
            that 'archiver unforget' can bring it back; with --now it goes at once.

            Where the archive takes more than 'archiver keep --max-size' and '--min-free' say, what was forgotten goes at \
            once, and more is forgotten: first what 'archiver keep --usual' would let go, then more of what is old than of \
            what is young. Where that is not enough, the exit code is 3.

            Examples:
              archiver prune --dry-run
              archiver prune
            """)

    @Flag(name: [.customShort("n"), .long], help: "Show what would go, and change nothing.")
    var dryRun = false

    @Flag(help: "Also give back what was forgotten in the last 7 days.")
    var now = false

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let archive = try global.openArchive()
        let isInterrupted = Interruptions.flag()
        let progress = OperationProgress()
        let line = ProgressLine("pruning \(Escaping.text(archive.directory.bytes))", progress, console)
        var options = MaintenanceOptions()
        options.isDryRun = dryRun
        if now { options.grace = .zero }
        let result: MaintenanceResult
        do {
            defer { line.end() }
            result = try archive.maintain(options, isCancelled: isInterrupted, progress: progress)
        }
        if console.isJSON {
            try console.output.line(JSONText.of(MaintenanceJSON(result, isDryRun: dryRun)))
        } else {
            try console.summary(MaintenanceText.text(result))
        }
        let damaged = result.pruned?.damaged ?? []
        console.warn(damaged, count: damaged.count, limit: 10) { Escaping.text($0) }
        if !damaged.isEmpty { throw ExitStatus.damaged }
        if result.room.isShort, !dryRun {
            console.warn("archiver: \(MaintenanceText.shortage(result.room))")
            throw ExitStatus.incomplete
        }
    }
}
