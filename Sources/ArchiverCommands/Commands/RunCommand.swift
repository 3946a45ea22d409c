// `archiver run`: runs a command and captures the states before and after it.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import Glibc
internal import Programs
internal import SystemPackage
internal import Threading

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "run",
        abstract: "Run a command and capture the states before and after it.",
        discussion: """
            Captures the directory before and after the command, as one operation that 'archiver undo' reverts. A \
            summary of the changes goes to stderr. If another run, a restore or an undo changed the directory at the \
            same time, nothing is undone automatically. The exit status is the command's; 126 or 127 if the command \
            cannot be run; 125 if archiver failed, or if --max-removed applied to a successful command.

            Examples:
              archiver run -- make generate
              archiver run --undo-on-failure -- ./migrate.py notes/
              archiver run --max-removed 10 -- ./clean-up.sh
            """)

    @Flag(help: "Undo the command's changes if it fails.")
    var undoOnFailure = false

    @Option(
        help: ArgumentHelp(
            "Undo the command's changes if it removed more files and directories than this.", valueName: "count"))
    var maxRemoved: Int?

    @Option(help: ArgumentHelp("The name that 'archiver operations' shows for the run.", valueName: "text"))
    var name: String?

    @Option(help: .root) var root: PathArgument?
    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("The command and its arguments, after --.", valueName: "command"))
    var command: [ByteArgument] = []

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if command.isEmpty { throw ValidationError("a command is missing: archiver run -- COMMAND") }
        if let maxRemoved, maxRemoved < 0 { throw ValidationError("--max-removed must be at least 0") }
    }

    func run() throws {
        let console = Console(global)
        let phase = RunPhase.observed()
        do {
            try run(phase, console)
        } catch let status as ChildStatus {
            throw status
        } catch {
            // Any other status would be read as the command's.
            guard let failure = Failure(error) else { throw error }
            FailureReport(failure).write(console)
            throw ChildStatus.ownFailure
        }
    }

    private func run(_ phase: RunPhase, _ console: Console) throws {
        let archive = try global.openArchive(creating: root != nil)
        let directory = try root?.path ?? SyncCommand.here(archive)
        let progress = OperationProgress()
        let line = ProgressLine("capturing \(Escaping.text(directory.bytes))", progress, console)
        let run: CommandRun
        do {
            defer { line.end() }
            run = try archive.beginRun(
                on: directory, name: name, newRootExclusions: ExclusionOptions.ofNewRoots, progress: progress)
        }
        let status = try runCommand(phase, console)
        let result = try run.end()
        let reason = reasonToUndo(status, result)
        let isUndone = try reason != nil && result.hasChanged && result.isAlone && undo(run, console)
        let report = RunReport(
            root: run.root, status: status, before: run.before, result: result, reason: reason, isUndone: isUndone)
        if console.isJSON {
            try console.output.line(JSONText.of(report))
        } else {
            console.remark(report.text(try RootContext(archive, nil).word(for: run.root)))
        }
        try console.output.flush()
        if status == 0, reason == nil { return }
        throw status == 0 ? ChildStatus.ownFailure : ChildStatus(code: status)
    }

    /// - Returns: its exit status.
    private func runCommand(_ phase: RunPhase, _ console: Console) throws -> Int32 {
        do throws(FileError) {
            let child = try phase.start(command.map(\.bytes))
            defer { phase.end() }
            return child.wait()
        } catch {
            FailureReport(Failure(error)).write(console)
            return ChildProgram.status(of: error)
        }
    }

    /// The reason to undo the command's changes; nil if there is none.
    private func reasonToUndo(_ status: Int32, _ result: CommandRunResult) -> String? {
        if let maxRemoved, result.changes.removed > UInt64(maxRemoved) {
            return "it removed \(result.changes.removed), more than \(maxRemoved)"
        }
        return undoOnFailure && status != 0 ? "it failed with status \(status)" : nil
    }

    private func undo(_ run: CommandRun, _ console: Console) throws -> Bool {
        let steps = try run.undo()
        for step in steps { console.warn(step.restore) }
        return steps.allSatisfy { $0.restore.isComplete }
    }
}

/// The phase of a run, which determines what signals do.
private final class RunPhase: Sendable {
    enum Phase {
        case beginning
        case running(pid_t)
        case over
    }

    private let phase = Locked(Phase.beginning)

    /// Starts to handle signals; call it before the first additional thread starts.
    static func observed() -> RunPhase {
        let run = RunPhase()
        Signals.block(Signals.termination)
        try? Signals.observe(Signals.termination) { signal, _ in run.forward(signal) }
        return run
    }

    /// Starts the command; a signal that arrives during the start is delivered to the command afterwards.
    func start(_ words: [[UInt8]]) throws(FileError) -> ChildProgram {
        try phase.withLock { (phase) throws(FileError) in
            let child = try ChildProgram(words)
            phase = .running(child.id)
            return child
        }
    }

    func end() { phase.withLock { $0 = .over } }

    private func forward(_ signal: CInt) {
        switch phase.withLock({ $0 }) {
        // A terminal sends Ctrl-C to the command as well, which decides what to do.
        case .running(let child): if signal != SIGINT { kill(child, signal) }
        case .beginning, .over: _exit(128 + signal)
        }
    }
}

/// The result of a run, as text and as JSON.
private struct RunReport: Encodable {
    let root: FilePath
    let status: Int32
    let before: ListedSnapshot
    let result: CommandRunResult
    let reason: String?
    let isUndone: Bool

    /// - Parameter word: the argument of `archiver undo`, with a leading blank.
    func text(_ word: String) -> String {
        guard result.hasChanged else { return "archiver: nothing changed" }
        let changes = "archiver: \(result.changes.text)"
        if let reason, isUndone { return "\(changes); \(reason): undone; 'archiver redo\(word)' redoes it" }
        if let reason, !result.isAlone {
            return "\(changes); \(reason), but another operation changed the directory at the same time: nothing was "
                + "undone — 'archiver operations' lists what can be undone"
        }
        if let reason { return "\(changes); \(reason): not all changes could be undone" }
        return "\(changes); 'archiver undo\(word)' reverts it"
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: root.bytes, forKey: .root)
        try object.encode(status, forKey: .status)
        try object.encode(before.id.hex, forKey: .before)
        try object.encode(result.after.id.hex, forKey: .after)
        try object.encode(result.changes.added, forKey: .added)
        try object.encode(result.changes.modified, forKey: .modified)
        try object.encode(result.changes.removed, forKey: .removed)
        try object.encode(result.isAlone, forKey: .alone)
        try object.encode(isUndone, forKey: .undone)
        try object.encode(reason, forKey: .reason)
    }
}
