// `archiver bisect`: the first snapshot at which a command fails.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import Glibc
internal import SystemPackage
internal import Threading

struct BisectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bisect",
        abstract: "Find the first snapshot at which a command fails.",
        discussion: """
            Writes states between a good and a bad snapshot to a temporary directory (in $TMPDIR, else /tmp) and \
            runs the command there: exit status 0 means good, 1 to 124 bad, 125 that this state cannot be tested. \
            Any other status, or a signal, ends the search and becomes the exit status. Both ends are tested first. \
            Only differences are written from one state to the next, so build products stay; your directory is not \
            touched. A script outside the snapshots needs an absolute path. The command's output goes to stderr.

            If some states cannot be tested, there may be several suspects, and the exit code is 1. In a pipe each \
            suspect is a line, with tabs between id, time and the last good id.

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

    @Option(help: ArgumentHelp("Show only snapshots that changed this file or directory.", valueName: "path"))
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
        // Before there is a second thread.
        let runner = BisectRunner(command.map(\.bytes), isJSON: global.json)
        let history = try HistoryContext(global, place, isPaged: false)
        let query = BisectQuery(
            good: try good.map { try snapshot($0, "--good", history) },
            bad: try bad.map { try snapshot($0, "--bad", history) } ?? history.latest(),
            path: try history.path(path))
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
        let snapshot = try history.context.snapshot(SnapshotPath(argument).withoutPath(option))
        guard snapshot.root == history.root else {
            throw Failure.usage(
                "snapshot \(snapshot.id.short) is of \(Escaping.text(snapshot.rootPath)), and not of "
                    + Escaping.text(history.root.path.bytes),
                remedy: "say with --root DIR which directory is meant")
        }
        return snapshot
    }

    /// Compares what has to be compared before it is known which snapshots changed `path`.
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

/// Runs the command of a bisection, and ends it all when a signal asks for that.
private final class BisectRunner: Sendable {
    private struct State {
        var child: pid_t?
        var isInterrupted = false
        /// Whether there is something to be cleaned up.
        var hasBegun = false
    }

    let interruption = RestoreInterruption()
    private let command: [[UInt8]]
    private let isJSON: Bool
    private let state = Locked(State())

    /// Answers signals from now on.
    init(_ command: [[UInt8]], isJSON: Bool) {
        self.command = command
        self.isJSON = isJSON
        Signals.block(Signals.termination)
        try? Signals.observe(Signals.termination) { [self] _, count in heard(count) }
    }

    var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

    /// From now on a signal lets the search clean up after itself; before, it ends the program, whatever that waits for.
    func begin() { state.withLock { $0.hasBegun = true } }

    /// Runs the command in `directory`.
    ///
    /// - Throws: `ChildStatus` where that ends the search.
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
                "the command \(how) at snapshot \(snapshot.name), which says neither good nor bad",
                remedy: "let it end with 0 for good, 1 for bad or 125 for what cannot be tested")
            FailureReport(failure).write(Output.error, isJSON: isJSON)
            throw ChildStatus(code: status)
        }
    }

    /// Starts the command; a signal that comes meanwhile waits until the command can get it.
    private func start(in directory: FilePath) throws(FileError) -> ChildProgram {
        try state.withLock { (state) throws(FileError) in
            let child = try ChildProgram(command, output: STDERR_FILENO, in: directory)
            state.child = child.id
            if state.isInterrupted { kill(child.id, SIGTERM) }
            return child
        }
    }

    private func leave() { state.withLock { $0.child = nil } }

    private func heard(_ count: Int) {
        let (child, hasBegun) = state.withLock { state in
            state.isInterrupted = true
            return (state.child, state.hasBegun)
        }
        if !hasBegun { _exit(ExitStatus.interrupted.rawValue) }
        _ = interruption.ask()
        // What the command would come to does not count any more.
        if let child {
            kill(child, count == 1 ? SIGTERM : SIGKILL)
        } else if count > 2 {
            _exit(ExitStatus.interrupted.rawValue)
        }
    }
}
