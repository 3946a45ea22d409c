// `archiver service`: watches all roots of the configuration in one process. `archiver reload`: changes it.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import Configuring
internal import FileIO
internal import Glibc
internal import Logging
internal import Mementos
internal import SystemPackage
internal import WatchControl

struct ServiceCommand: LastingCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "service",
        abstract: "Watch all roots of the configuration.",
        discussion: """
            Watches all roots of the configuration in one process; 'archiver enable' installs it so that it starts by \
            itself. A root that is missing is waited for, and one that cannot be watched is tried again; so is an \
            archive whose disk is not mounted yet. 'archiver reload' or SIGHUP takes over changes of the file. SIGTERM \
            and Ctrl-C end the service after a last capture; a second one ends it immediately. If systemd started it, \
            it says when everything is watched and compared, and feeds the watchdog.

            Examples:
              archiver service
              archiver service --json        # one event per line, for programs
            """)

    @Option(help: ArgumentHelp("How to detect changes; poll scans at intervals.", valueName: "backend"))
    var backend = WatchBackend.auto

    @Flag(help: "Do not thin out or prune the archive while watching.")
    var noPrune = false

    @Option(help: .hidden)
    var timeScale = 1

    /// For packages: writes the units into this directory, for the program at `--program`.
    @Option(help: .hidden)
    var writeUnits: PathArgument?

    @Option(help: .hidden)
    var program: PathArgument?

    @OptionGroup(title: "Events") var events: EventOptions
    @OptionGroup var place: SystemOption
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if timeScale < 1 { throw ValidationError("--time-scale must be at least 1") }
    }

    func run() async throws {
        if let writeUnits {
            let (folder, program) = (writeUnits.path.absolute, program?.path ?? "/usr/bin/archiver")
            return try ServiceStart.writePackagedUnits(isOfSystem: place.system, of: program, into: folder)
        }
        let console = Console(global)
        let notifier = ServiceNotifier.ofEnvironment()
        let file = try place.file
        let (ending, signals) = (WatchEnding(), ServiceSignals())
        try Signals.observe([SIGINT, SIGTERM, SIGHUP]) { signal, count in
            if signal == SIGHUP { return signals.reload() }
            notifier.stopping()
            ending.handle(signal, count)
        }
        let servicePlace = try ServicePlace(file)
        let lock = try servicePlace.take()
        defer { withExtendedLifetime(lock) {} }
        let configuration = try ServiceConfiguration(file)
        let eventSettings = try events.settings(for: configuration)
        let log = EventLog(eventSettings, console)
        let archive = try await open(configuration, console, notifier, log)
        try await Blocking.run { () throws(ArchiverError) in try configuration.apply(to: archive) }
        var options = WatchService.Options(backend: backend, maintenance: noPrune ? nil : .unattended)
        options.newRootExclusions = ExclusionOptions.ofNewRoots
        options.timeScale = timeScale
        options.onAnswer = log.add
        let service = WatchService(archive, changing: configuration.watched, options)
        let readiness = ServiceReadiness(notifier, configuration.roots.map(\.path))
        let progress = ProgressLine("capturing", service.progress, console)
        let directory = archive.directory
        let report = WatchReport(
            console, roots: configuration.roots.count, showsRoot: true, progress, log,
            command: eventSettings.command,
            status: { ServiceCommand.status(directory) }, words: { SnapshotWords.changes(of: $0, archive) ?? "" })
        let subscriptions = [service.events.subscribe(report.add), service.events.subscribe(readiness.add)]
        let reloading = ServiceReload(file, service, archive, configuration, notifier, report, events)
        signals.begin(reloading)
        let control = servicePlace.listen { request in
            let response =
                request.action == .log ? ControlResponse(log: log.recent) : await reloading.answer(request)
            log.add(request.action, failure: response.failure?.message)
            return response
        }
        defer { withExtendedLifetime(control) {} }
        ending.begin(service, report)
        if configuration.roots.isEmpty {
            progress.end()
            report.warn("no root is configured in \(file.path): 'archiver enable DIR' adds one")
        }
        notifier.begin { await service.pulse() }
        defer {
            notifier.end()
            report.end()
        }
        try await service.run()
        for subscription in subscriptions { subscription.cancel() }
        let failures = service.failures.sorted { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }
        if let first = failures.first { throw Failure(first.value) }
    }

    /// Opens the archive; waits for one whose disk is not mounted.
    private func open(
        _ configuration: ServiceConfiguration, _ console: Console, _ notifier: ServiceNotifier, _ log: EventLog
    ) async throws -> Archive {
        var reported: String?
        while true {
            do throws(ArchiverError) {
                let global = global
                return try await Blocking.run { () throws(ArchiverError) in
                    try global.openArchive(creating: true, configuration: configuration)
                }
            } catch {
                // Only an archive that was here before is waited for: any other one can be created.
                guard error.code == .noArchive else { throw error }
                notifier.show("waiting for the archive: \(error.message)")
                notifier.extend()
                if error.message != reported {
                    let text = error.message + "; waiting for it"
                    log.say(.warning, "waiting", text)
                    if !log.isForJournal { console.warn("archiver: " + WatchText.timed(text)) }
                }
                reported = error.message
            }
            try await Task.sleep(for: .seconds(5) / timeScale)
        }
    }

    /// The output of `archiver status`, for the log.
    private static func status(_ archive: FilePath) -> String {
        do throws(ArchiverError) {
            return StatusText.lines(try Archive.open(archive).status(), .plain, isBrief: true).joined(separator: "\n")
        } catch { return "archiver: \(error.message)" }
    }
}

struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "reload",
        abstract: "Make the running service take over changes of the configuration.",
        discussion: """
            New roots are watched, removed ones end after a last capture, and changed rules and timing apply; no change \
            of a file is lost. Returns when that is done; the first capture of a new root may still run. If the file is \
            wrong, it says so, and the service goes on with what it had. SIGHUP does the same.

            Examples:
              archiver reload
              sudo archiver reload --system
            """)

    @OptionGroup var place: SystemOption
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let file = try place.file
        // A fault is reported even if no service runs.
        _ = try ServiceConfiguration(file)
        guard let change = try ServicePlace(file).reload() else {
            throw Failure(
                status: .failed, code: ArchiverError.Code.notWatched.rawValue, message: "no service runs",
                remedy: "'archiver enable' starts it")
        }
        Console(global).remark(change)
    }
}
