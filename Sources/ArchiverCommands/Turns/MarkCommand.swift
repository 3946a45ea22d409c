// `archiver mark`: marks a state to return to, before an assistant or a script starts to work.

internal import ArchiveFormat
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import Glibc
internal import SystemPackage

struct MarkCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "mark",
        abstract: "Mark the current state before a turn of changes.",
        discussion: """
            For hooks of assistants and editors: a running watcher captures every change made so far and marks the \
            state. This takes milliseconds. The command never waits longer than 200 ms: if there is no mark by then, \
            it reports why, and the exit code is 1. With --wait, it waits, and without a watcher it captures the directory \
            itself. 'archiver turns' lists the marks and the changes after each; \
            'archiver rewind' goes back to one.

            Examples:
              archiver mark "before the refactoring"
              archiver mark --wait --root ~/project nightly
            """)

    @Argument(
        help: ArgumentHelp(
            "The mark's name; a longer text is cut to the first line and 200 characters.", valueName: "name"))
    var name: String

    @Flag(help: "Wait without a limit instead of failing.")
    var wait = false

    @Option(help: .root) var root: PathArgument?
    @OptionGroup var global: GlobalOptions

    /// The maximum age of the process; the rest of the 200 ms is for the system to start and end it.
    private static let limit = Duration.milliseconds(165)
    /// The age of the process at which it stops waiting for the watcher.
    private static let patience = Duration.milliseconds(145)

    func run() throws {
        let console = Console(global)
        if !wait { try MarkCommand.endInTime(console) }
        let archive = try global.openArchive(creating: wait && root != nil)
        let directory = try root?.path ?? SyncCommand.here(archive)
        let progress = OperationProgress()
        let line = wait ? ProgressLine("capturing \(Escaping.text(directory.bytes))", progress, console) : nil
        let mark: Mark
        do {
            defer { line?.end() }
            mark = try archive.mark(
                MarkCommand.shortened(name), in: directory,
                patience: wait ? nil : max(.milliseconds(1), MarkCommand.patience - CurrentProcess.age),
                newRootExclusions: ExclusionOptions.ofNewRoots, progress: progress)
        }
        if console.isJSON { return try console.output.line(JSONText.of(MarkJSON(mark: mark))) }
        try console.summary("marked \(mark.snapshot.short) as '\(Escaping.text(mark.name))'")
    }

    /// Ends the process in time, whatever it waits for: the watcher, the archive, its disk, or a reader of the output.
    private static func endInTime(_ console: Console) throws {
        try DetachedThread.start(for: "the end of a mark") {
            let left = max(.zero, limit - CurrentProcess.age)
            usleep(UInt32(clamping: left.components.attoseconds / 1_000_000_000_000))
            let failure = Failure(
                status: .failed, code: ArchiverError.Code.system.rawValue,
                message: "no mark was made in time: the archive or the watcher is busy; the mark may still be made",
                remedy: "'archiver mark --wait' waits for it")
            // The write must not block: the reader may not read, or another thread may be writing.
            if console.error.takesMore { FailureReport(failure).write(console) }
            _exit(ExitStatus.failed.rawValue)
        }
    }

    private static let longestName = 200

    /// The first line of a text, which may be a whole prompt, shortened and without control characters.
    static func shortened(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).first { !$0.allSatisfy(\.isWhitespace) } ?? ""
        let plain = String(
            String.UnicodeScalarView(line.unicodeScalars.filter { $0.properties.generalCategory != .control }))
        var name = plain.prefix(longestName)
        while name.utf8.count + 3 > Mark.nameLimit { name.removeLast() }
        return name.count < plain.count ? name + "…" : plain
    }
}
