// `archiver purge`: removes files, or what people wrote, from all history for good.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import Glibc
internal import SystemPackage

struct PurgeCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "purge",
        abstract: "Remove files or texts from all history for good.",
        discussion: """
            For files that should never have been captured, such as passwords or huge files. Snapshots that contain \
            them are rewritten without them; they keep their times and labels, and get new ids. Every segment with \
            such data and the catalogue are rewritten, then every byte is verified, and a certificate is written into \
            the archive. The files cannot be brought back. Copies of the archive elsewhere still have them.

            --text removes the labels, notes, names of marks and runs, and reasons of pins that contain a text. Files \
            that contain it stay, and are named.

            During the purge, no other process may use the archive: end 'archiver watch' and 'archiver browse' first. \
            The directory itself is not changed: remove or exclude the files, or the next capture stores them again. \
            After an interruption, run the command again to finish the job.

            Examples:
              archiver purge secrets.env --dry-run
              archiver purge secrets.env keys/ --yes
              archiver purge --pattern '*.key'
              archiver purge --content ~/Downloads/leaked.pdf   # in all roots
              archiver purge --text hunter2                     # in notes and labels
            """)

    @Argument(
        help: ArgumentHelp("The files and directories to remove, or patterns.", valueName: "path"), completion: .file())
    var paths: [ByteArgument] = []

    @Option(help: ArgumentHelp("Remove paths that match a .gitignore pattern.", valueName: "pattern"))
    var pattern: ByteArgument?

    @Option(
        help: ArgumentHelp("Files with exactly the content of this one, under any name.", valueName: "file"),
        completion: .file())
    var content: PathArgument?

    @Option(help: ArgumentHelp("Remove labels, notes, marks and reasons that contain this text.", valueName: "text"))
    var text: ByteArgument?

    @OptionGroup var change: ChangeOptions

    @Flag(name: [.customShort("y"), .long], help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    private static let namesLimit = 20

    func validate() throws {
        let given = [!paths.isEmpty, pattern != nil, content != nil, text != nil].count { $0 }
        if given != 1 { throw ValidationError("give paths, or --pattern, or --content, or --text") }
    }

    func run() throws {
        let console = Console(global)
        let isInterrupted = Interruptions.flag()
        let (target, archive, plan) = try plan(console, isInterrupted)
        if let plan {
            if change.dryRun { return try report(plan, console) }
            try confirm(plan, console)
        }
        let progress = OperationProgress()
        let line = ProgressLine("purging \(Escaping.text(archive.bytes))", progress, console)
        let result: PurgeResult
        do {
            defer { line.end() }
            result = try Archive.purge(target, in: archive, isCancelled: isInterrupted, progress: progress)
        }
        try report(result, console)
        if !result.isComplete { throw ExitStatus.incomplete }
    }

    /// The target of the purge, and the plan if it is shown or confirmed.
    ///
    /// The archive is closed again, because no other process may have it open during the purge.
    private func plan(
        _ console: Console, _ isInterrupted: @escaping @Sendable () -> Bool
    ) throws -> (target: PurgeTarget, archive: FilePath, plan: PurgeResult?) {
        try global.refuseReplica()
        let archive = try global.openArchive()
        let target = try target(in: archive)
        if yes, !change.dryRun { return (target, archive.directory, nil) }
        let progress = OperationProgress()
        let line = ProgressLine("searching", progress, console)
        defer { line.end() }
        let plan = try archive.plannedPurge(of: target, isCancelled: isInterrupted, progress: progress)
        return (target, archive.directory, plan)
    }

    private func target(in archive: Archive) throws -> PurgeTarget {
        if let content { return .content(of: content.path) }
        if let text { return .text(text.bytes) }
        let context = try RootContext(archive, place, paths: paths.map(\.bytes))
        let root = try context.oneRoot()
        if let pattern { return .pattern(pattern.bytes, of: root) }
        let history = HistoryContext(context, root, Console(global))
        return .paths(try paths.flatMap { try paths(of: $0, history) }, of: root)
    }

    /// The paths that an argument names: itself, or all names that a pattern matches.
    private func paths(of argument: ByteArgument, _ history: HistoryContext) throws -> [RelativePath] {
        let path = try history.path(argument)
        // A name that exists with exactly these characters is no pattern.
        guard argument.isPattern,
            try history.archive.history(of: path, in: history.root, HistoryQuery(limit: 1)).isEmpty
        else { return [path] }
        return try history.matches(argument)?.map(\.path) ?? [path]
    }

    /// Asks the user on the terminal for confirmation.
    ///
    /// - Throws: `Failure` if there is no terminal or the user declines.
    private func confirm(_ plan: PurgeResult, _ console: Console) throws {
        guard isatty(STDIN_FILENO) == 1, console.error.isTerminal else {
            throw Failure.usage(
                "purged files cannot be brought back", remedy: "try --dry-run first, then give --yes")
        }
        try report(plan, console)
        try console.output.flush()
        console.warn("This cannot be undone. Type 'yes' to continue:")
        guard readLine() == "yes" else { throw Failure.unsuitable("nothing was removed") }
    }

    // MARK: Reporting

    private func report(_ result: PurgeResult, _ console: Console) throws {
        let findings = result.verification?.findings ?? []
        console.warn(findings, count: findings.count) { Escaping.text($0) }
        if console.isJSON {
            // The plan is shown only to ask a person for confirmation.
            if result.isDryRun, !change.dryRun { return }
            return try console.output.line(JSONText.of(PurgeJSON(result)))
        }
        if result.isDryRun { try report(names: result, console) }
        try console.summary(PurgeCommand.summary(result))
        if let found = result.verification {
            try console.summary(
                "verified \(Plural.of(found.chunks, "chunk")) in \(Plural.of(found.blocks, "block")): "
                    + (found.findings.isEmpty ? "no purged data is left" : "some of it is left, see above"))
        }
        if let certificate = result.certificate {
            try console.summary("wrote the certificate \(Escaping.text(certificate.bytes))")
        }
        for path in result.stillThere {
            console.remark(
                "\(Escaping.text(path.bytes)) still exists: remove or exclude it, or the next capture stores it again")
        }
        if !result.isDryRun { console.remark("not reached: \(PurgeResult.beyondReach.joined(separator: "; "))") }
    }

    private func report(names result: PurgeResult, _ console: Console) throws {
        for name in result.names.prefix(PurgeCommand.namesLimit) {
            try console.output.line("\(Escaping.text(name.path)): in \(Plural.of(name.snapshots, "snapshot"))")
        }
        let more = result.names.count - PurgeCommand.namesLimit
        if more > 0 { try console.output.line("and \(more) more") }
    }

    private static func summary(_ result: PurgeResult) -> String {
        let verb = result.isDryRun ? "would purge" : "purged"
        let snapshots = result.replaced.count - result.earlier
        var parts = ["\(verb) \(Plural.of(result.names.count, "name")) in \(Plural.of(snapshots, "snapshot"))"]
        if result.records > 0 {
            parts = ["\(verb) \(Plural.of(result.records, "record")) with the text"]
            if snapshots > 0 { parts.append("\(Plural.of(snapshots, "snapshot"))") }
        } else if result.names.isEmpty, snapshots == 0, result.states == 0 {
            parts = [result.isDryRun ? "would finish an earlier purge" : "finished an earlier purge"]
        }
        if result.earlier > 0 { parts.append("\(Plural.of(result.earlier, "snapshot")) replaced before") }
        if result.states > 0 { parts.append(Plural.of(result.states, "saved state")) }
        if result.forgotten > 0 {
            parts.append("\(Plural.of(result.forgotten, "forgotten snapshot", "forgotten snapshots")) for good")
        }
        if result.operations > 0 { parts.append(Plural.of(result.operations, "record") + " of operations or notes") }
        return parts.joined(separator: ", ")
    }
}
