// `archiver watch`: remembers every state from now on.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import Glibc
internal import Mementos
internal import SystemPackage

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Remember every state of directories from now on.",
        discussion: """
            Captures the directories as they are, then again whenever something in them has changed and settled, until \
            interrupted: Ctrl-C and SIGTERM capture a last time and end cleanly. Each snapshot gets a line once it is safe \
            on disk. Nothing is ever written into a watched directory. The archive is made on first use.

            Examples:
              archiver watch ~/project
              archiver watch /etc /srv --json   one event a line, for programs
            """)

    @Argument(help: ArgumentHelp("The directories to watch.", valueName: "dir"))
    var directories: [PathArgument]

    @Option(help: ArgumentHelp("How long nothing must change before a capture.", valueName: "duration"))
    var settle = DurationArgument(.milliseconds(100))

    @Option(help: ArgumentHelp("How long after a change a capture may wait for that.", valueName: "duration"))
    var maxDelay = DurationArgument(.seconds(2))

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if settle.duration > maxDelay.duration { throw ValidationError("--settle must not exceed --max-delay") }
    }

    func run() async throws {
        let console = Console(global)
        var options = WatchService.Options()
        options.settle = settle.duration
        options.maxDelay = maxDelay.duration
        let (directories, settings) = (directories.map(\.path), options)
        let service = try await Blocking.run { () throws(ArchiverError) in
            let archive = try Archive.open(
                global.archive?.path ?? Archive.defaultDirectory, creating: true)
            return WatchService(archive, roots: directories, settings)
        }
        let names = directories.map { Escaping.text($0.bytes) }.joined(separator: ", ")
        let progress = ProgressLine("capturing \(names)", service.progress, console)
        let report = WatchReport(
            console, roots: Set(directories.map(\.resolved)).count, progress, onClosedPipe: service.stop)
        let subscription = service.events.subscribe(report.add)
        try Signals.observe(Signals.termination) { signal, count in
            // Whoever asks twice does not want to wait for the last capture.
            if signal == SIGINT && count > 1 { report.leave(.interrupted) }
            if signal == SIGINT { report.note("ending after a last capture; interrupt again to leave at once") }
            service.stop()
        }
        defer { report.end() }
        try await service.run()
        subscription.cancel()
        if let failure = report.failure { throw failure }
    }
}
