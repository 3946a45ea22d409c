// `archiver prune`: gives the space of what is forgotten back.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct PruneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Give the space of what is forgotten back to the file system.",
        discussion: """
            What is still needed is copied together, and what nothing needs goes. Watchers and restores go on meanwhile. \
            Interrupted, the same command finishes the job: nothing is ever missing. With --dry-run nothing changes, and \
            the size afterwards is an estimate. What was forgotten in the last 7 days stays, so that 'archiver unforget' can \
            bring it back; with --now it goes at once.

            Examples:
              archiver prune --dry-run
              archiver prune
            """)

    @Flag(name: [.customShort("n"), .long], help: "Tell what would go, and change nothing.")
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
        let result: PruneResult
        do {
            defer { line.end() }
            result = try archive.prune(
                grace: now ? .zero : Archive.defaultGrace, isDryRun: dryRun, isCancelled: isInterrupted,
                progress: progress)
        }
        if console.isJSON {
            try console.output.line(JSONText.of(PruneJSON(result)))
        } else {
            try console.summary(PruneCommand.summary(result))
        }
        console.warn(result.damaged, count: result.damaged.count, limit: 10) { Escaping.text($0) }
        if !result.damaged.isEmpty { throw ExitStatus.damaged }
    }

    private static func summary(_ result: PruneResult) -> String {
        let inUse =
            result.inUse > 0
            ? "; \(Plural.of(result.inUse, "segment")) that somebody writes to \(result.inUse == 1 ? "stays" : "stay")"
            : ""
        let sizes = "\(ByteCount.text(result.bytesBefore)) before, \(ByteCount.text(result.bytesAfter)) after"
        if result.freedBytes == 0 {
            return "nothing to give back: the archive has \(ByteCount.text(result.bytesAfter))" + inUse
        }
        let verb = result.isDryRun ? "would give back about" : "gave back"
        return "\(verb) \(ByteCount.text(result.freedBytes)): \(sizes)" + inUse
    }
}
