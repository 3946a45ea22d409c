// `archiver watch`: watches directories and captures every change.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import Glibc
internal import Mementos
internal import SystemPackage

struct WatchCommand: LastingCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "watch",
        abstract: "Watch directories and capture every change.",
        discussion: """
            Captures the directories, and captures them again when changes in them have settled. Ctrl-C, SIGTERM and \
            closing the terminal end it after a last capture; a second Ctrl-C or SIGTERM ends it immediately. Each \
            snapshot is printed when it is safe on disk. If the output is not read, lines are dropped and counted; \
            the watcher never waits for a reader. It never writes to a watched directory. It creates the archive on \
            first use. With --wait, it waits for directories that do not exist yet.

            Files that match the patterns of an .archiverignore file (same syntax as .gitignore) are neither read \
            nor watched, and a restore leaves them alone unless you name one. Exclusion and timing options are \
            remembered for each root: later watchers use them, 'archiver roots' shows them and 'archiver roots set' \
            changes them. Every hour, and immediately when the disk is nearly full, the watcher applies the policies \
            of 'archiver keep' and reclaims space. On SIGUSR1 it prints its status.

            Examples:
              archiver watch ~/project --exclude '*.o' --exclude build/
              archiver watch /etc /srv --json   # one event per line, for programs
            """)

    @Argument(help: ArgumentHelp("The directories to watch.", valueName: "dir"))
    var directories: [PathArgument]

    @Option(
        help: ArgumentHelp(
            "How to detect changes; poll scans at intervals.", valueName: "backend"))
    var backend = WatchBackend.auto

    @Flag(help: "Wait without a limit instead of failing.")
    var wait = false

    @Flag(help: "Do not thin out or prune the archive while watching.")
    var noPrune = false

    @Option(help: .hidden)
    var timeScale = 1

    @OptionGroup(title: "Timing") var gathering: WatchSettingsOptions
    @OptionGroup(title: "Exclusions") var exclusions: ExclusionOptions
    @OptionGroup(title: "Events") var events: EventOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if timeScale < 1 { throw ValidationError("--time-scale must be at least 1") }
    }

    func run() async throws {
        let console = Console(global)
        let directories = directories.map(\.path)
        var settings = WatchService.Options(
            gathering.settings, backend: backend, exclusions: try exclusions.given(for: directories),
            waitsForRoots: wait, maintenance: noPrune ? nil : .unattended)
        settings.newRootExclusions = ExclusionOptions.ofNewRoots
        settings.timeScale = timeScale
        // Signals must work from the start, also while the archive is being opened or a lock is waited for.
        let ending = WatchEnding()
        try Signals.observe(Signals.termination, ending.handle)
        let eventSettings = events.settings()
        // An archive is not created for a command that is refused.
        if try !global.isThere {
            let rules = settings.exclusions ?? settings.newRootExclusions
            try eventSettings.requireLogOutside(directories.map { ($0.resolved, rules) })
        }
        let archive = try await Blocking.run { [global, wait] () throws(any Error) in
            try wait ? global.openArchive(creating: true) : global.openArchive(capturing: directories)
        }
        for directory in directories {
            let remembered = try? archive.exclusions(ofRoot: directory)
            let remark = ExclusionText.remark(
                directory.bytes, given: settings.exclusions, remembered: remembered, isAside: false)
            if let remark { console.remark(remark) }
            let former = try archive.watchSettings(ofRoot: directory)
            let kept = WatchSettingsText.remark(directory.bytes, given: settings.settings, remembered: former)
            if let kept { console.remark(kept) }
        }
        let place = archive.directory
        try eventSettings.requireLogOutside(
            directories.map { directory in
                let remembered = (try? archive.exclusions(ofRoot: directory)) ?? nil
                return (directory.resolved, settings.exclusions ?? remembered ?? settings.newRootExclusions)
            })
        let log = EventLog(eventSettings, console)
        settings.onAnswer = log.add
        let service = WatchService(archive, roots: directories, settings)
        let names = directories.map { Escaping.text($0.bytes) }.joined(separator: ", ")
        let progress = ProgressLine("capturing \(names)", service.progress, console)
        let report = WatchReport(
            console, roots: Set(directories.map(\.resolved)).count, progress, log, command: eventSettings.command,
            status: { WatchCommand.status(directories, place) },
            words: { WatchCommand.words($0, archive) })
        let enabling = try WatchCommand.enabling(directories, archive, console)
        let subscription = service.events.subscribe { event in
            report.add(event)
            if case .watching(let root, _, _, isNew: true) = event, let text = enabling[root] { report.remark(text) }
        }
        ending.begin(service, report)
        defer { report.end() }
        try await service.run()
        subscription.cancel()
        let failures = service.failures.sorted { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }
        if let first = failures.first { throw Failure(first.value) }
    }

    /// The last line of the greeting, by root: for a person, at the first watch of a root that is not configured.
    private static func enabling(
        _ directories: [FilePath], _ archive: Archive, _ console: Console
    ) throws -> [FilePath: String] {
        guard console.output.isTerminal, console.isForPerson else { return [:] }
        let (known, configuration) = (
            Set(try archive.roots().filter(\.isHere).map(\.path)), try ServiceConfiguration.present
        )
        let new = directories.map(\.resolved).filter { !known.contains($0) && configuration.root(at: $0) == nil }
        return Dictionary(
            new.map { ($0, "'archiver enable \(ShellWord.text($0.bytes))' captures it also after the next start.") }
        ) { first, _ in first }
    }

    /// What a snapshot changed, and the operation that it belongs to.
    private static func words(_ snapshot: ListedSnapshot, _ archive: Archive) -> String {
        // An operation is looked up only if there is one.
        guard snapshot.cause != .watch, let words = try? SnapshotWords(archive, of: snapshot.root) else {
            return SnapshotWords.changes(of: snapshot, archive) ?? ""
        }
        return words.text(snapshot)
    }

    /// The output of `archiver status` for each directory, for the log.
    private static func status(_ directories: [FilePath], _ archive: FilePath) -> String {
        var lines: [String] = []
        for directory in Set(directories.map(\.resolved)) {
            do throws(ArchiverError) {
                // Opened only for this: another opening would keep the files of a lost disk open.
                lines += StatusText.lines(try Archive.open(archive).status(of: directory), .plain)
            } catch {
                lines.append("archiver: \(error.message)")
            }
        }
        return lines.joined(separator: "\n")
    }
}
