// `archiver bisect`: the first snapshot at which a command fails.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import Glibc
internal import Programs
internal import SystemPackage
internal import Threading

struct BisectCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "bisect",
        abstract: "Find the first snapshot at which a command fails.",
        discussion: """
            Writes snapshots between a good and a bad one to a temporary directory (in $TMPDIR, or /tmp) and runs the \
            command there. Exit status 0 means good, 1 to 124 bad, and 125 that this snapshot cannot be tested. Any \
            other status, or a signal, ends the search and becomes the exit status. The good and the bad snapshot are \
            tested first. Between runs, only the differences are written, so build products stay. Your directory is \
            not changed. Give an absolute path for a script outside the snapshots. The command's output goes to stderr.

            If some snapshots cannot be tested, several suspects may remain, and the exit code is 1. With --format lines each \
            suspect is one line, with tabs between id, time and the last good id.

            Examples:
              archiver bisect --good @1w -- make test
              archiver bisect --find-good --path src -- ~/bin/still-works.sh
            """)

    @Option(
        help: ArgumentHelp("A snapshot at which the command succeeds.", valueName: "selector"), completion: .selector)
    var good: ByteArgument?

    @Option(
        help: ArgumentHelp("A later snapshot at which the command fails (default: latest).", valueName: "selector"),
        completion: .selector)
    var bad: ByteArgument?

    @Flag(help: "Search backwards for a good snapshot, doubling the distance at each step.")
    var findGood = false

    @Option(help: ArgumentHelp("Test only snapshots that changed this file or directory.", valueName: "path"))
    var path: ByteArgument?

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("The command and its arguments, after --.", valueName: "command"))
    var command: [ByteArgument] = []

    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if command.isEmpty { throw ValidationError("a command is missing: archiver bisect --good SNAPSHOT -- COMMAND") }
        if good == nil, !findGood { throw ValidationError("name a good snapshot with --good, or give --find-good") }
        if good != nil, findGood { throw ValidationError("--good and --find-good exclude each other") }
    }

    func run() throws {
        // Before the first additional thread starts.
        let runner = BisectRunner(command.map(\.bytes), isJSON: global.json)
        let history = try HistoryContext(global, place, paths: path.map { [$0.bytes] } ?? [], isPaged: false)
        let query = BisectQuery(
            good: try good.map { try snapshot($0, "--good", history) },
            bad: try bad.map { try snapshot($0, "--bad", history) } ?? history.latest(),
            path: try path.map { try history.target($0).path } ?? .root)
        try index(query.path, history)
        let result: BisectResult
        runner.begin()
        do {
            result = try history.archive.bisect(
                history.root, query, interruption: runner.interruption,
                onProbe: { report($0, left: $1, history.console) }, test: runner.test)
        } catch {
            throw runner.isInterrupted ? ExitStatus.interrupted : error
        }
        if runner.isInterrupted { throw ExitStatus.interrupted }
        try BisectReport(result: result).write(history)
        if result.firstBad == nil { throw ExitStatus.failed }
    }

    private func snapshot(_ argument: ByteArgument, _ option: String, _ history: HistoryContext) throws
        -> ListedSnapshot
    {
        try history.snapshot(SnapshotPath(argument).withoutPath(option))
    }

    /// Updates the index of which snapshots changed `path`.
    ///
    /// - Throws: `Failure` if no snapshot ever held `path`.
    private func index(_ path: RelativePath, _ history: HistoryContext) throws {
        if path.isRoot { return }
        let versions = try history.indexing {
            try history.archive.history(of: path, in: history.root, HistoryQuery(limit: 1), progress: $0)
        }
        if versions.isEmpty { throw try history.noSuchPath(path) }
    }

    private func report(_ probe: BisectProbe, left: Int, _ console: Console) {
        let name = probe.snapshot.name
        if let reason = probe.reason { return console.warn("archiver: skipped \(name): \(Escaping.text(reason))") }
        let more = left == 0 ? "" : "; at most \(Plural.of(left, "more run"))"
        console.remark(
            "archiver: \(name) \(probe.verdict == .skipped ? "was skipped" : "is \(probe.verdict.rawValue)")\(more)")
    }
}

/// Runs the command of a bisection, and ends the bisection on a signal.
private final class BisectRunner: Sendable {
    private struct State {
        var child: pid_t?
        var isInterrupted = false
        /// Whether the search has begun and has to clean up.
        var hasBegun = false
    }

    let interruption = RestoreInterruption()
    private let command: [[UInt8]]
    private let isJSON: Bool
    private let state = Locked(State())

    /// Starts to handle signals.
    init(_ command: [[UInt8]], isJSON: Bool) {
        self.command = command
        self.isJSON = isJSON
        Signals.block(Signals.termination)
        try? Signals.observe(Signals.termination) { [self] _, count in interrupt(count) }
    }

    var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

    /// Marks the beginning of the search: a signal now lets the search clean up; earlier, it ends the program.
    func begin() { state.withLock { $0.hasBegun = true } }

    /// Runs the command in `directory`.
    ///
    /// - Throws: `ChildStatus` if the command's status ends the search.
    func test(_ directory: FilePath, _ snapshot: ListedSnapshot) throws -> BisectVerdict {
        if isInterrupted { throw ExitStatus.interrupted }
        let status: Int32
        do throws(FileError) {
            let child = try start(in: directory)
            defer { leave() }
            status = child.wait()
        } catch {
            FailureReport(Failure(error)).write(Output.error, isJSON: isJSON)
            throw ChildStatus(code: ChildProgram.status(of: error))
        }
        if isInterrupted { throw ExitStatus.interrupted }
        switch status {
        case 0: return .good
        case 125: return .skipped
        case 1...124: return .bad
        default:
            let how = status > 128 ? "was ended by signal \(status - 128)" : "ended with status \(status)"
            let failure = Failure.unsuitable(
                "the command \(how) at snapshot \(snapshot.name), which means neither good nor bad",
                remedy: "let it exit with 0 for good, 1 for bad, or 125 if the snapshot cannot be tested")
            FailureReport(failure).write(Output.error, isJSON: isJSON)
            throw ChildStatus(code: status)
        }
    }

    /// Starts the command; a signal that arrives during the start is delivered to the command afterwards.
    private func start(in directory: FilePath) throws(FileError) -> ChildProgram {
        try state.withLock { (state) throws(FileError) in
            let child = try ChildProgram(command, output: STDERR_FILENO, in: directory)
            state.child = child.id
            if state.isInterrupted { kill(child.id, SIGTERM) }
            return child
        }
    }

    private func leave() { state.withLock { $0.child = nil } }

    private func interrupt(_ count: Int) {
        let (child, hasBegun) = state.withLock { state in
            state.isInterrupted = true
            return (state.child, state.hasBegun)
        }
        if !hasBegun { _exit(ExitStatus.interrupted.rawValue) }
        _ = interruption.ask()
        // The result of the command no longer matters.
        if let child {
            kill(child, count == 1 ? SIGTERM : SIGKILL)
        } else if count > 2 {
            _exit(ExitStatus.interrupted.rawValue)
        }
    }
}
