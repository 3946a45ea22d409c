// `archiver status`: shows whether the roots are watched and captured.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import SystemPackage
internal import WatchControl

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "status",
        abstract: "Show whether directories are watched and up to date.",
        discussion: """
            Asks each running watcher, which answers after it has processed every change made before the question. \
            For each root it shows how and since when it is watched, what could not be captured, and when changes \
            may have been missed or seen late. Large files that change all the time are captured less often: those \
            that wait are named, and 'archiver sync' captures them. If there are more than three roots, each gets one \
            line; -v, or naming a root, shows more. With -q, each root is one line, and nothing else is shown but findings.

            The exit code is 0 if there is no problem, 2 if the archive is damaged, and 1 otherwise. Each line that \
            begins with “!” names a problem and its remedy. With --max-lag, for cron and monitors, the code is 3 if a \
            root is not proven current: its watcher does not answer that everything is captured, and its latest \
            capture is older than that; or if a replica is further behind than that. With --metrics-file the exit code only says whether the file was written, unless \
            --max-lag is given, too.

            Examples:
              archiver status
              archiver status --max-lag 5m --quiet
              archiver status --metrics-file /var/lib/node_exporter/archiver.prom
              archiver status ~/project --json
            """)

    @Argument(help: ArgumentHelp("The directory (default: all).", valueName: "dir"))
    var directory: PathArgument?

    @Option(help: ArgumentHelp("How long to wait for a watcher's answer.", valueName: "duration"))
    var patience = DurationArgument(.seconds(15))

    @Option(help: ArgumentHelp("Exit with 3 if the newest state is older than this.", valueName: "duration"))
    var maxLag: DurationArgument?

    @Flag(help: "Print metrics in the text format of OpenMetrics.")
    var metrics = false

    @Option(help: ArgumentHelp("Replace this file with the metrics, in one step.", valueName: "file"))
    var metricsFile: PathArgument?

    @OptionGroup var global: GlobalOptions

    /// The maximum number of roots that are shown in detail without `--verbose`.
    private static let mostInDetail = 3

    func run() throws {
        let console = Console(global)
        try global.refuseReplica()
        let archive = try global.openArchive(reportsFindings: false)
        let root = try directory.map { try archive.root(holding: $0.path.resolved)?.path ?? $0.path }
        let status = try archive.status(of: root, patience: patience.duration)
        if let metricsFile { try StatusCommand.write(StatusMetrics.text(status) + "\n", to: metricsFile.path.absolute) }
        if metrics {
            try console.output.line(StatusMetrics.text(status))
        } else if metricsFile != nil {
            if maxLag == nil { return }
        } else if console.isJSON {
            try console.output.line(JSONText.of(ArchiveStatusJSON(status)))
        } else {
            let isBrief = console.isQuiet || status.roots.count > StatusCommand.mostInDetail && !console.isVerbose
            let lines = StatusText.lines(
                status, console.style, snapshots: try archive.snapshotCount(), isBrief: isBrief,
                isQuiet: console.isQuiet)
            // A monitor reads one line a root.
            for line in lines { try console.output.line(console.isQuiet ? line : console.wrapped(line)) }
            if root == nil { try remarkElsewhere(archive, console) }
        }
        if status.isDamaged { throw ExitStatus.damaged }
        if let maxLag {
            let areBehind = reportLag(status.replicas, over: maxLag.duration, console)
            if reportLag(status.roots, over: maxLag.duration, console) || areBehind { throw ExitStatus.incomplete }
        }
        if !status.isWell { throw ExitStatus.failed }
    }

    /// The collector may read the file at any moment, as another user.
    private static func write(_ text: String, to file: FilePath) throws {
        try DurableFile.replace(
            directory: file.removingLastComponent(), name: file.lastComponent?.string ?? "", contents: Array(text.utf8),
            permissions: 0o644, isExact: true)
    }

    func validate() throws {
        if metrics, global.json { throw ValidationError("--metrics and --json exclude each other") }
        if let metricsFile, metricsFile.path.lastComponent == nil {
            throw ValidationError("--metrics-file must name a file")
        }
    }

    /// Names the roots that are not proven current.
    ///
    /// - Returns: whether there are any.
    private func reportLag(_ roots: [RootStatus], over limit: Duration, _ console: Console) -> Bool {
        let lagging = roots.filter { $0.retired == nil && $0.lagSeconds(at: .now).map { $0 > limit.seconds } ?? true }
        for root in lagging {
            let proof = root.lagSeconds(at: .now).map { "was last proven current \(Int($0)) s ago" }
            console.warn("archiver: \(Escaping.text(root.root.path.bytes)) \(proof ?? "was never proven current")")
        }
        return !lagging.isEmpty
    }

    /// Names the replicas that are behind.
    ///
    /// - Returns: whether there are any.
    private func reportLag(_ replicas: [ReplicaStatus], over limit: Duration, _ console: Console) -> Bool {
        let lagging = replicas.filter { $0.lagSeconds(at: .now).map { $0 > limit.seconds } ?? true }
        for replica in lagging {
            let lag = replica.lagSeconds(at: .now).map { "had everything \(Int($0)) s ago" }
            console.warn("archiver: the replica '\(replica.name)' \(lag ?? "was never complete")")
        }
        return !lagging.isEmpty
    }

    /// Says that the current directory is in no root, if it does not hold one either.
    private func remarkElsewhere(_ archive: Archive, _ console: Console) throws {
        guard let present = FilePath.currentDirectory, try archive.root(holding: present) == nil,
            case let roots = try archive.roots().filter(\.isHere), !roots.isEmpty,
            !roots.contains(where: { $0.path.starts(with: present) })
        else { return }
        console.remark("The current directory is in none of these roots: 'archiver watch .' captures it.")
    }
}

extension RootStatus {
    /// How many seconds ago the archive is known to have held everything of the root; nil if that was never so.
    func lagSeconds(at now: Timestamp) -> Double? {
        let proofs = [watcher?.isCurrent == true ? now : nil, watcher?.lastCapture, latest?.time].compactMap(\.self)
        guard let proof = proofs.max() else { return nil }
        // A large file that is captured less often has changed since then.
        let waiting = watcher?.largeFiles.compactMap(\.changed).min()
        return Double(max(0, now.seconds - min(proof, waiting ?? proof).seconds))
    }
}
